import EventTypes
import Foundation

/// Reads the offers of subscriptions.
extension StoreKitReader {
    /// The introductory offer of a subscription; `nil` if it has none that can be taken.
    mutating func introductoryOffer(
        of product: Members,
        for terms: SubscriptionTerms,
        _ subject: String
    ) -> OfferTerms? {
        guard let members = product["introductoryOffer"] as? Members, !members.isEmpty else {
            if Self.hasContent(product["introductoryOffer"]) {
                note(.wrong, subject, "has an introductoryOffer that is not an object")
            }
            return nil
        }
        guard let offer = offer(members, "an introductoryOffer", for: terms, subject) else {
            return nil
        }
        note(.taken, subject, "with an introductory offer: \(text(of: offer))")
        return offer
    }

    /// The promotional offers of a subscription; `nil` if it has none.
    mutating func promotionalOffers(
        of product: Members,
        for terms: SubscriptionTerms,
        _ subject: String
    ) -> [PromotionalOffer]? {
        let offers = namedOffers(of: product, "adHocOffers", for: terms, subject).map {
            note(.taken, subject, "with the promotional offer \($0.id): \(text(of: $0.terms))")
            return PromotionalOffer(id: $0.id, terms: $0.terms)
        }
        return offers.isEmpty ? nil : offers
    }

    /// The win-back offers of a subscription; `nil` if it has none.
    ///
    /// No members are known in which the file would say who may have them.
    mutating func winBackOffers(
        of product: Members,
        for terms: SubscriptionTerms,
        _ subject: String
    ) -> [WinBackOffer]? {
        let offers = namedOffers(of: product, "winbackOffers", for: terms, subject).map {
            note(.taken, subject, "with the win-back offer \($0.id): \(text(of: $0.terms))")
            return WinBackOffer(id: $0.id, terms: $0.terms)
        }
        return offers.isEmpty ? nil : offers
    }

    private mutating func namedOffers(
        of product: Members,
        _ list: String,
        for terms: SubscriptionTerms,
        _ subject: String
    ) -> [(id: OfferID, terms: OfferTerms)] {
        var offers: [(id: OfferID, terms: OfferTerms)] = []
        for members in self.list(product, list) {
            let name = members["offerID"] as? String ?? ""
            guard let id = OfferID(rawValue: name) else {
                note(.wrong, subject, "has an offer whose offerID '\(name)' is not \(OfferID.form)")
                continue
            }
            guard let offer = offer(members, "the offer \(id)", for: terms, subject) else {
                continue
            }
            offers.append((id, offer))
        }
        return offers
    }

    /// The code offers of a subscription; `nil` if it has none.
    ///
    /// The file names no codes: those are made in the store.
    mutating func codeOffers(
        of product: Members,
        for terms: SubscriptionTerms,
        _ subject: String
    ) -> [CodeOffer]? {
        var offers: [CodeOffer] = []
        for members in list(product, "codeOffers") {
            let name = members["referenceName"] as? String ?? ""
            guard let id = OfferID(rawValue: name) else {
                note(
                    .wrong,
                    subject,
                    "has a code offer whose referenceName '\(name)' is not \(OfferID.form)"
                )
                continue
            }
            let names = members["eligibility"] as? [String] ?? []
            let customers = names.map(StoreKitOffer.customer(named:))
            if let index = customers.firstIndex(of: nil) {
                note(
                    .wrong,
                    subject,
                    "has the code offer \(id) for customers of the kind '\(names[index])'"
                )
                continue
            }
            guard let offer = offer(members, "the code offer \(id)", for: terms, subject) else {
                continue
            }
            note(.taken, subject, "with the code offer \(id): \(text(of: offer))")
            offers.append(
                CodeOffer(
                    id: id,
                    customers: names.isEmpty
                        ? CustomerKind.all : CustomerKind.all.filter(customers.contains),
                    isStackable: members["isStackable"] as? Bool ?? false,
                    terms: offer
                )
            )
        }
        return offers.isEmpty ? nil : offers
    }

    private func text(of offer: OfferTerms) -> String {
        let price = offer.prices[storefront].map { ", \($0)" } ?? ""
        return "\(offer.mode), \(offer.numberOfPeriods) times \(offer.period)\(price)"
    }

    private mutating func offer(
        _ members: Members,
        _ title: String,
        for terms: SubscriptionTerms,
        _ subject: String
    ) -> OfferTerms? {
        let name = members["paymentMode"] as? String ?? ""
        guard let mode = StoreKitOffer.mode(named: name) else {
            note(.wrong, subject, "has \(title) with the paymentMode '\(name)'")
            return nil
        }
        let length = members["subscriptionPeriod"] as? String
        guard
            let period = length.map({ Self.sameLengths[$0] ?? $0 })
                .flatMap({ SubscriptionPeriod(iso8601: $0) })
                ?? (mode == .payAsYouGo ? terms.period : nil)
        else {
            note(.wrong, subject, "has \(title) without a subscriptionPeriod such as P1W")
            return nil
        }
        let isFree = mode == .freeTrial
        guard let price = isFree ? .zero(currency) : price(of: members, subject) else { return nil }
        return OfferTerms(
            mode: mode,
            period: period,
            numberOfPeriods: mode == .payAsYouGo ? members["numberOfPeriods"] as? Int ?? 1 : 1,
            prices: [storefront: price]
        )
    }
}

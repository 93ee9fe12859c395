import EventTypes
import Foundation
import StoreAPI

/// Writes the catalog's products in one storefront as Xcode's StoreKit configuration file.
///
/// Pure: the same catalog always gives the same file.
enum StoreKitWriter {
    /// Writes a file of version 4.
    ///
    /// - Returns: The file, and notes about products that it cannot hold.
    static func write(
        _ document: CatalogDocument,
        in storefront: Storefront
    ) throws -> (file: Data, notes: [StoreKitNote]) {
        var notes: [StoreKitNote] = []
        var products: [[String: Any]] = []
        var nonRenewing: [[String: Any]] = []
        var groups: [SubscriptionGroupID: [[String: Any]]] = [:]
        for (id, draft) in document.products.sorted(by: { $0.key < $1.key }) {
            func leaveOut(_ reason: String) {
                let subject = "product \(id)"
                notes.append(StoreKitNote(outcome: .notTaken, subject: subject, text: reason))
            }
            guard draft.isOnSale != false else {
                leaveOut("is off sale")
                continue
            }
            guard let price = draft.prices[storefront] else {
                leaveOut("has no price in \(storefront)")
                continue
            }
            var members = members(of: draft, id, price)
            switch draft.type {
            case .consumable, .nonConsumable: products.append(members)
            case .nonRenewingSubscription: nonRenewing.append(members)
            case .autoRenewableSubscription:
                guard let terms = draft.subscription else {
                    leaveOut("has no group and no period")
                    continue
                }
                let group = terms.groupID
                members["groupNumber"] = terms.level
                members["subscriptionGroupID"] = group.rawValue
                members["recurringSubscriptionPeriod"] = terms.period.description
                members["introductoryOffer"] =
                    draft.introductoryOffer.flatMap {
                        offer(of: $0, "\(id).introductory", in: storefront)
                    } ?? NSNull()
                members["adHocOffers"] = offers(of: draft, id, in: storefront)
                members["codeOffers"] = codeOffers(of: draft, id, in: storefront)
                members["winbackOffers"] = winBackOffers(of: draft, id, in: storefront)
                groups[group, default: []].append(members)
            case .unknown(let name): leaveOut("is a \(name), which the file cannot hold")
            }
        }
        let file: [String: Any] = [
            "identifier": number(of: storefront.rawValue),
            "nonRenewingSubscriptions": nonRenewing,
            "products": products,
            "settings": ["_storefront": storefront.rawValue, "_storeKitErrors": [Any]()],
            "subscriptionGroups": groups.sorted { $0.key < $1.key }.map { id, subscriptions in
                [
                    "id": id.rawValue,
                    "localizations": localizations(of: document.subscriptionGroups?[id]),
                    "name": id.rawValue,
                    "subscriptions": subscriptions,
                ] as [String: Any]
            },
            "version": ["major": 4, "minor": 0],
        ]
        let data = try JSONSerialization.data(
            withJSONObject: file,
            options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        )
        return (data, notes)
    }

    /// The names of a group; empty if it has none.
    private static func localizations(of group: SubscriptionGroupDraft?) -> [[String: Any]] {
        (group?.localizations ?? [:]).sorted { $0.key < $1.key }.map { tag, text in
            ["description": "", "displayName": text.name, "locale": locale(of: tag)]
        }
    }

    /// Converts the catalog's `en-US` into Xcode's `en_US`.
    private static func locale(of tag: LanguageTag) -> String {
        tag.rawValue.replacing("-", with: "_")
    }

    private static func members(
        of draft: ProductDraft,
        _ id: ProductID,
        _ price: Money
    ) -> [String: Any] {
        [
            "displayPrice": amount(of: price),
            "familyShareable": draft.isFamilyShareable ?? false,
            "internalID": number(of: id.rawValue),
            "localizations": draft.localizations.sorted { $0.key < $1.key }.map { tag, text in
                [
                    "description": text.description, "displayName": text.title,
                    "locale": locale(of: tag),
                ]
            },
            "productID": id.rawValue,
            "referenceName": id.rawValue,
            "type": type(draft.type),
        ]
    }

    /// The active promotional offers of a product that are made in the storefront.
    private static func offers(
        of draft: ProductDraft,
        _ id: ProductID,
        in storefront: Storefront
    ) -> [[String: Any]] {
        (draft.promotionalOffers ?? []).filter(\.isActive).compactMap {
            offer($0.id, of: $0.terms, "\(id).\($0.id)", in: storefront)
        }
    }

    /// The active win-back offers of a product that are made in the storefront.
    private static func winBackOffers(
        of draft: ProductDraft,
        _ id: ProductID,
        in storefront: Storefront
    ) -> [[String: Any]] {
        (draft.winBackOffers ?? []).filter(\.isActive).compactMap {
            offer($0.id, of: $0.terms, "\(id).winBack.\($0.id)", in: storefront)
        }
    }

    /// The active code offers of a product that are made in the storefront.
    private static func codeOffers(
        of draft: ProductDraft,
        _ id: ProductID,
        in storefront: Storefront
    ) -> [[String: Any]] {
        (draft.codeOffers ?? []).filter(\.isActive).compactMap { code in
            let name = "\(id).code.\(code.id)"
            guard var members = offer(of: code.terms, name, in: storefront) else { return nil }
            members["referenceName"] = code.id.rawValue
            members["eligibility"] = code.customers.map(StoreKitOffer.name(of:))
            members["isStackable"] = code.isStackable
            return members
        }
    }

    /// An offer that has an id, as the file has it; `nil` if it is not made in the storefront.
    private static func offer(
        _ id: OfferID,
        of terms: OfferTerms,
        _ name: String,
        in storefront: Storefront
    ) -> [String: Any]? {
        guard var members = offer(of: terms, name, in: storefront) else { return nil }
        members["offerID"] = id.rawValue
        members["referenceName"] = id.rawValue
        return members
    }

    /// An offer as the file has it; `nil` if it is not made in the storefront.
    private static func offer(
        of offer: OfferTerms,
        _ name: String,
        in storefront: Storefront
    ) -> [String: Any]? {
        guard let price = offer.prices[storefront], let mode = StoreKitOffer.name(of: offer.mode)
        else { return nil }
        var members: [String: Any] = [
            "internalID": number(of: name),
            "numberOfPeriods": offer.numberOfPeriods,
            "paymentMode": mode,
            "subscriptionPeriod": offer.period.description,
        ]
        if offer.mode != .freeTrial { members["displayPrice"] = amount(of: price) }
        return members
    }

    private static func type(_ type: ProductType) -> String {
        switch type {
        case .consumable: "Consumable"
        case .nonConsumable: "NonConsumable"
        case .nonRenewingSubscription: "NonRenewingSubscription"
        case .autoRenewableSubscription: "RecurringSubscription"
        case .unknown(let name): name
        }
    }

    /// The price with the decimals of its currency, such as `9.99`.
    private static func amount(of price: Money) -> String {
        // The description ends with the currency.
        String(price.description.prefix { $0 != " " })
    }

    /// Eight hexadecimal digits that are always the same for the same name (FNV-1a).
    private static func number(of name: String) -> String {
        let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

import EventTypes
import Subscriptions

/// The rules for redeeming offer codes (rules S54 to S58 of docs/subscriptions.md).
///
/// Pure.
enum CodeRules {
    /// The reason why a code cannot be redeemed by anybody now; `nil` if it can.
    ///
    /// The checks come in the order of rule S57.
    static func refusal(of code: OfferCode?, at time: StoreTime) -> PaymentRefusal? {
        guard let code else { return .codeUnknown }
        if code.isDeactivated { return .codeExpired }
        if let end = code.expiresAt, time >= end { return .codeExpired }
        return code.redemptions < code.redemptionsMax ? nil : .codeUsed
    }

    /// The offers that a code gives an account.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - product: The product at its newest version.
    ///   - storefront: The storefront of the payment.
    ///   - row: The account's row in the product's group, locked if the answer decides.
    ///   - mayHaveIntroductory: Whether the account may have the introductory offer of the group.
    ///   - time: The present.
    ///   - rules: The rules of due actions, for an end that was not carried out yet (rule S205).
    /// - Returns: The offers, or the reason to refuse the code.
    static func grant(
        by code: OfferCode,
        of product: Product,
        in storefront: Storefront,
        to row: SubscriptionRow?,
        mayHaveIntroductory: Bool,
        at time: StoreTime,
        by rules: DueActionRules
    ) -> Result<OfferGrant, PaymentRefusal> {
        guard product.type == .autoRenewableSubscription, product.isOnSale,
            let offer = product.codeOffers.first(where: { $0.id == code.offerID }), offer.isActive,
            var given = PeriodOffer(offer, in: storefront),
            given.price.currency == product.prices[storefront]?.currency
        else { return .failure(.codeOfferEnded) }
        let subscription = row?.subscription
        let kind = kind(of: subscription, at: time, by: rules)
        guard offer.customers.contains(kind) else {
            return .failure(.codeNotForCustomer(offer.customers))
        }
        if let subscription, kind == .active {
            let running = subscription.runningPeriod(at: time).offer
            if offer.isStackable, running?.type == .introductory {
                given.introductory = .comesFirst
            }
            let copy = SubscriptionRules.redemption(
                of: given,
                for: product,
                meeting: subscription,
                at: time,
                by: rules
            )
            guard copy == nil else {
                return .success(OfferGrant(first: given, beginsLater: true))
            }
            // A lower product, and one that runs in billing retry, are not bought (rule S104).
            return SubscriptionRules.period(of: product, meeting: subscription, at: time, by: rules)
                .map { _ in OfferGrant(first: given) }
        }
        guard mayHaveIntroductory else { return .success(OfferGrant(first: given)) }
        guard offer.isStackable else {
            given.introductory = .usedUp
            return .success(OfferGrant(first: given))
        }
        guard let first = SubscriptionRules.introductoryOffer(of: product, in: storefront) else {
            return .success(OfferGrant(first: given))
        }
        given.introductory = .comesFirst
        return .success(OfferGrant(first: first, later: given))
    }

    /// The kind of a customer (rule S54).
    static func kind(
        of subscription: Subscription?,
        at time: StoreTime,
        by rules: DueActionRules
    ) -> CustomerKind {
        guard let subscription else { return .new }
        return rules.state(of: subscription, at: time).isRunning ? .active : .expired
    }
}

/// The offers that a payment gets.
struct OfferGrant: Hashable, Codable, Sendable {
    /// The offer that begins first; `nil` if the payment has none.
    var first: PeriodOffer?
    /// The offer of a code that follows an introductory one (rule S55).
    var later: PeriodOffer?
    /// Whether the offer of a code begins with the next renewal, as that of a running product does (rule
    /// S52).
    var beginsLater = false
}

extension PeriodOffer {
    /// The first period of a code offer; `nil` if it is not made in the storefront.
    fileprivate init?(_ offer: CodeOffer, in storefront: Storefront) {
        guard let price = offer.terms.prices[storefront] else { return nil }
        if case .unknown = offer.terms.mode { return nil }
        self.init(
            type: .code,
            id: offer.id,
            mode: offer.terms.mode,
            period: offer.terms.period,
            numberOfPeriods: offer.terms.numberOfPeriods,
            price: price
        )
    }
}

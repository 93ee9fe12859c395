import EventTypes
import StoreAPI

/// The rules for promotional offers (rules S49 to S51 of docs/subscriptions.md).
///
/// Pure.
enum PromotionalOfferRules {
    /// Decides whether a payment gets the offer that it carries.
    ///
    /// The checks come in the order of rule S49.
    ///
    /// - Parameters:
    ///   - signed: The offer as it was read.
    ///   - product: The product.
    ///   - storefront: The storefront of the payment.
    ///   - account: The buyer.
    ///   - isSubscriber: Whether the buyer has, or had, a subscription in the product's group.
    ///   - facts: The time, and the nonces that were used.
    /// - Returns: The first period of the offer, or the reason to refuse the payment.
    static func offer(
        _ signed: Result<SignedOffer, SignedOffer.Refusal>,
        of product: Product,
        in storefront: Storefront,
        to account: AccountKey,
        isSubscriber: Bool,
        _ facts: OfferFacts
    ) -> Result<PeriodOffer, PaymentRefusal> {
        let id: String?
        switch signed.map(\.decision) {
        case .success(.promotional(let signed)): id = signed
        case .success(.introductory): id = nil
        case .failure(let refusal): id = refusal.id
        }
        guard product.type == .autoRenewableSubscription else { return .failure(.offersContradict) }
        let found = id.flatMap { offer($0, of: product, in: storefront) }
        if let id, found == nil { return .failure(.offerUnknown(id)) }
        switch signed {
        case .failure(let refusal): return .failure(refusal.reason)
        case .success(let signed):
            // The introductory offer is decided elsewhere.
            guard let found else { return .failure(.offersContradict) }
            if let refusal = facts.refusal(of: signed, by: account) { return .failure(refusal) }
            guard let ordinary = product.prices[storefront], found.isAtMost(ordinary) else {
                return .failure(.offerPriceInvalid)
            }
            return isSubscriber ? .success(found) : .failure(.offerNotAvailable)
        }
    }

    /// The first period of an active offer; `nil` if there is none in the storefront.
    private static func offer(
        _ id: String,
        of product: Product,
        in storefront: Storefront
    ) -> PeriodOffer? {
        guard let offer = product.promotionalOffers.first(where: { $0.id.rawValue == id }),
            offer.isActive, let price = offer.terms.prices[storefront]
        else { return nil }
        if case .unknown = offer.terms.mode { return nil }
        return PeriodOffer(
            type: .promotional,
            id: offer.id,
            mode: offer.terms.mode,
            period: offer.terms.period,
            numberOfPeriods: offer.terms.numberOfPeriods,
            price: price
        )
    }
}

extension PeriodOffer {
    /// Whether the offer costs no more than the ordinary price, if that is for the same time.
    fileprivate func isAtMost(_ ordinary: Money) -> Bool {
        guard price.currency == ordinary.currency else { return false }
        return mode == .payUpFront || price.minorUnits <= ordinary.minorUnits
    }
}

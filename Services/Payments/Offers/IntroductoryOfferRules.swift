import EventTypes
import StoreAPI

/// The rules for introductory offers about which the merchant's server decides (rule S48 of
/// docs/subscriptions.md).
///
/// Pure.
enum IntroductoryOfferRules {
    /// Decides whether a payment gets the introductory offer.
    ///
    /// A payment that is to get it, and cannot, is refused, so that it never costs the ordinary price.
    ///
    /// - Parameters:
    ///   - signed: The decision of the merchant's server as it was read.
    ///   - product: The product.
    ///   - storefront: The storefront of the payment.
    ///   - account: The buyer.
    ///   - isRunning: Whether a subscription of the product's group runs.
    ///   - introduction: The transaction by which the account has, or gets, its own introductory offer.
    ///   - facts: The time, and the nonces that were used.
    /// - Returns: The first period of the offer, `nil` if it is withheld, or the reason to refuse the
    ///   payment.
    static func offer(
        _ signed: Result<SignedOffer, SignedOffer.Refusal>,
        of product: Product,
        in storefront: Storefront,
        to account: AccountKey,
        isRunning: Bool,
        introducedBy introduction: TransactionID?,
        _ facts: OfferFacts
    ) -> Result<PeriodOffer?, PaymentRefusal> {
        guard product.type == .autoRenewableSubscription else { return .failure(.offersContradict) }
        let decision: SignedOffer.Decision
        switch signed {
        case .failure(let refusal): return .failure(refusal.reason)
        case .success(let signed):
            if let refusal = facts.refusal(of: signed, by: account) { return .failure(refusal) }
            decision = signed.decision
        }
        guard decision == .introductory(isAllowed: true) else { return .success(nil) }
        guard !isRunning,
            var offer = SubscriptionRules.introductoryOffer(of: product, in: storefront)
        else { return .failure(.offerNotAvailable) }
        guard let introduction else { return .success(offer) }
        // The account's own offer is not used up before that payment is settled.
        guard !facts.unpaidIntroductions.contains(introduction) else {
            return .failure(.offerNotAvailable)
        }
        offer.introductory = .again
        return .success(offer)
    }
}

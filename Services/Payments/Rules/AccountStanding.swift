import EventTypes

/// The part of an account that every payment is checked against.
struct AccountStanding: Hashable, Sendable {
    /// Whether the account may pay.
    var canMakePayments = true
    /// The account's storefront; if `nil`, none is set, and the one that the client names is
    /// accepted.
    var storefront: Storefront?

    /// A reason why an account cannot be charged in a storefront.
    enum Obstacle: Hashable, Sendable {
        case paymentsNotAllowed
        /// The account buys in another storefront.
        case storefrontChanged(current: Storefront)
    }

    /// The reason why the account cannot be charged in a storefront; `nil` if it can be (spec rules
    /// 1, 2, 8, 9).
    ///
    /// It is the one rule for a new payment and for one that was accepted before.
    func obstacle(in storefront: Storefront) -> Obstacle? {
        guard canMakePayments else { return .paymentsNotAllowed }
        guard let current = self.storefront, current != storefront else { return nil }
        return .storefrontChanged(current: current)
    }
}

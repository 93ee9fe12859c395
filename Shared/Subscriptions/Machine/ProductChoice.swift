public import EventTypes

/// The consequence of an account's choice of a product.
public enum ProductChoice: Hashable, Sendable {
    /// The product is charged now (rows e1, e8 and e22), instead of a running one if it names one.
    case charge(replacing: ProductID?)
    /// The product takes effect with the next renewal (row e23).
    case schedule
    /// A scheduled change is withdrawn (row e24).
    case withdraw
    /// Auto-renew is turned on (row e6).
    case turnOn
    /// The renewal that failed is charged now (row e7).
    case chargeOwed
    /// The account has it already: the answer is the current transaction (row e5).
    case current

    /// Judges the choice of a product (rules S12, S100 to S108).
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - terms: Its group, level and length today.
    ///   - subscription: The account's subscription in the product's group; `nil` if it has none.
    ///   - currentLevel: The level that the running product has today (rule S11); `nil` for the one
    ///     that it had when it was chosen.
    /// - Returns: What has to be done.
    public static func judge(
        _ product: ProductID,
        _ terms: SubscriptionTerms,
        meeting subscription: Subscription?,
        currentLevel: Int? = nil
    ) -> ProductChoice {
        guard let subscription, subscription.state.isRunning else {
            return .charge(replacing: nil)
        }
        let current = subscription.product
        guard product == current.id else {
            let level = currentLevel ?? current.terms.level
            let isUpgrade = terms.level < level
            let isSameKind =
                terms.level == level && terms.period == current.terms.period
            return isUpgrade || isSameKind ? .charge(replacing: current.id) : .schedule
        }
        if !subscription.isAutoRenewOn { return .turnOn }
        if subscription.pendingProduct != nil { return .withdraw }
        return subscription.state == .inBillingRetryPeriod ? .chargeOwed : .current
    }
}

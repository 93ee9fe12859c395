import EventTypes

/// A refund that is to be carried out.
struct RefundPlan: Hashable, Sendable {
    let number: Int
    let amount: Money
    /// Whether it takes the product away from the buyer.
    let revokes: Bool
    /// The key of the request that asked for it, if it had one.
    var key: UsedKey?
    /// Who asked for it, and why.
    var act: Act?
}

import EventTypes

/// The terms of a requested refund: amount, revocation and key.
struct RefundTerms: Hashable, Sendable {
    /// The amount; `nil` for the rest.
    var amount: Money?
    /// Whether it takes the product away; `nil` if it does so only when nothing is left to refund.
    var revokes: Bool?
    /// The key of the request, if it has one.
    var key: UsedKey?
    /// Who asks for it, and why.
    var act: Act?
    /// Whether a consumable that is paid back stays with its buyer unless ``revokes`` says otherwise.
    var leavesConsumables = false
}

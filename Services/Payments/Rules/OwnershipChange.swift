import EventTypes

/// A change of who owns a non-consumable.
struct OwnershipChange: Hashable, Sendable {
    let key: OwnershipKey
    /// The transaction whose change it is.
    let holder: TransactionID
    /// Since when the transaction owns it; `nil` where it gives it up.
    var ownedAt: Timestamp?
}

import EventTypes

/// A change of an ownership.
struct OwnershipChange: Hashable, Sendable {
    let key: OwnershipKey
    /// The transaction that gains or gives up the ownership.
    let holder: TransactionID
    /// The time since which the transaction owns it; `nil` if it gives it up.
    var ownedAt: StoreTime?
}

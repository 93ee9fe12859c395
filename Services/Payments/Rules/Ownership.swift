import EventTypes

/// The transaction that owns a non-consumable, or is being charged for it.
struct Ownership: Hashable, Sendable {
    /// The owning or charged transaction.
    let holder: TransactionID
    /// The time since which it is owned; `nil` while the holder is being charged.
    let ownedAt: StoreTime?
}

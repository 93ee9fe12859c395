import EventTypes

/// Who owns a non-consumable, or is about to.
struct Ownership: Hashable, Sendable {
    /// The transaction that owns it, or is being charged for it.
    let holder: TransactionID
    /// Since when it is owned; `nil` while the holder is being charged.
    let ownedAt: Timestamp?
}

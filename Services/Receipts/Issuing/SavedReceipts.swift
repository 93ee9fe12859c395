import EventTypes

/// The result of storing receipts.
struct SavedReceipts: Hashable, Sendable {
    /// The transactions that had no receipt before.
    var issued: Set<TransactionID>
    /// The transactions whose receipt was replaced by a later one.
    var replaced: Set<TransactionID> = []
    /// The transactions that are newly revoked.
    var revoked: Set<TransactionID>
}

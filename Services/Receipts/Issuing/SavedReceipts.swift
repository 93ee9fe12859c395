import EventTypes

/// What came of storing receipts.
struct SavedReceipts: Hashable, Sendable {
    /// The transactions that had no receipt before.
    var issued: Set<TransactionID>
    /// Those that had a receipt, which a later one has replaced.
    var replaced: Set<TransactionID> = []
    /// Those that were not revoked before and are now.
    var revoked: Set<TransactionID>
}

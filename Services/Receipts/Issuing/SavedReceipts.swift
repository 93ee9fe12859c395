import EventTypes

/// The result of storing receipts.
struct SavedReceipts: Hashable, Sendable {
    /// The transactions that had no receipt before.
    var issued: Set<TransactionID>
    /// The transactions whose receipt was replaced by a later one, with their refunds until then.
    var replaced: [TransactionID: RefundNumbers] = [:]
}

public import EventTypes

/// The unfinished transactions of an account, as one document.
public struct QueueResponse: Codable, Hashable, Sendable {
    /// The revision of the queue that this is; a stream resumed from it misses no transaction.
    public var revision: Int64
    /// The unfinished transactions, oldest first.
    public var transactions: [QueueChanged]
    /// Makes an answer.
    public init(revision: Int64, transactions: [QueueChanged]) {
        self.revision = revision
        self.transactions = transactions
    }
}

public import EventTypes

/// A response with all unfinished transactions of an account.
public struct QueueResponse: Codable, Hashable, Sendable {
    /// The queue's revision.
    ///
    /// A stream that resumes from it misses no transaction.
    public var revision: Int64
    /// The unfinished transactions, oldest first.
    public var transactions: [QueueChanged]
    /// Makes a response.
    public init(revision: Int64, transactions: [QueueChanged]) {
        self.revision = revision
        self.transactions = transactions
    }
}

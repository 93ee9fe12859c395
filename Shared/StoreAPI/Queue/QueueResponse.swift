public import EventTypes

/// A response with all unfinished transactions of an account.
public struct QueueResponse: Codable, Hashable, Sendable {
    /// The queue's revision.
    ///
    /// A stream that resumes from it misses no transaction.
    public var revision: Int64
    /// The unfinished transactions, oldest first.
    ///
    /// Of more than 500, each 500 are in that order, and those that changed last come last. One that
    /// changes while the store reads them is listed again, as it is then.
    public var transactions: [QueueChanged]
    /// Makes a response.
    public init(revision: Int64, transactions: [QueueChanged]) {
        self.revision = revision
        self.transactions = transactions
    }
}

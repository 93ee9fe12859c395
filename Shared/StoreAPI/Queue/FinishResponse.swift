public import EventTypes

/// The answer to a finish: the same however often it is asked.
public struct FinishResponse: Codable, Hashable, Sendable {
    /// The transaction that is finished.
    public var transactionID: TransactionID
    /// When it was finished first.
    public var finishedAt: Timestamp
    /// Makes an answer.
    public init(transactionID: TransactionID, finishedAt: Timestamp) {
        self.transactionID = transactionID
        self.finishedAt = finishedAt
    }
}

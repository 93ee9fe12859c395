public import EventTypes

/// The response to a finish request.
///
/// It is the same for every repetition.
public struct FinishResponse: Codable, Hashable, Sendable {
    /// The finished transaction.
    public var transactionID: TransactionID
    /// The time of the first finish.
    public var finishedAt: StoreTime
    /// Makes a response.
    public init(transactionID: TransactionID, finishedAt: StoreTime) {
        self.transactionID = transactionID
        self.finishedAt = finishedAt
    }
}

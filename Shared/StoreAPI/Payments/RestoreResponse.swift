public import EventTypes

/// The result of a restore: one new transaction for each finished purchase that can be restored.
public struct RestoreResponse: Codable, Hashable, Sendable {
    /// The new transactions, each with the id of its original transaction.
    public var transactions: [Transaction]
    /// Makes a response.
    public init(transactions: [Transaction]) { self.transactions = transactions }
}

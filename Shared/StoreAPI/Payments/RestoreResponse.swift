public import EventTypes

/// What a restore made: one new transaction for each restorable finished purchase.
public struct RestoreResponse: Codable, Hashable, Sendable {
    /// The new transactions, each with its original's id.
    public var transactions: [Transaction]
    /// Makes an answer.
    public init(transactions: [Transaction]) { self.transactions = transactions }
}

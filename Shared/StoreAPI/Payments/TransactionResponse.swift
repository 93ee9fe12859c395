public import EventTypes

/// An answer that holds one transaction.
public struct TransactionResponse: Codable, Hashable, Sendable {
    /// The transaction.
    public var transaction: Transaction
    /// Makes an answer.
    public init(transaction: Transaction) { self.transaction = transaction }
}

public import EventTypes

/// A response with one transaction.
public struct TransactionResponse: Codable, Hashable, Sendable {
    /// The transaction.
    public var transaction: Transaction
    /// Makes a response.
    public init(transaction: Transaction) { self.transaction = transaction }
}

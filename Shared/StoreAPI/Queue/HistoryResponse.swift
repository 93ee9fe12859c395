public import EventTypes

/// A page of an account's transactions, including finished ones.
public struct HistoryResponse: Codable, Hashable, Sendable {
    /// The transactions, in the order of their last change.
    public var transactions: [QueueChanged]
    /// The position of the next page; `nil` on the last page.
    public var next: Int64?
    /// Makes a page.
    public init(transactions: [QueueChanged], next: Int64?) {
        self.transactions = transactions
        self.next = next
    }
}

public import EventTypes

/// A page of an account's transactions, finished ones too.
public struct HistoryResponse: Codable, Hashable, Sendable {
    /// The transactions, in the order of their last change.
    public var transactions: [QueueChanged]
    /// Where the next page begins; `nil` after the last one.
    public var next: Int64?
    /// Makes a page.
    public init(transactions: [QueueChanged], next: Int64?) {
        self.transactions = transactions
        self.next = next
    }
}

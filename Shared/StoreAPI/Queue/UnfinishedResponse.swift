/// A page of the transactions that apps have not finished, ordered by account (`GET
/// /v1/admin/queue/unfinished`).
public struct UnfinishedResponse: Codable, Hashable, Sendable {
    /// The position of the next page; `nil` on the last page.
    public var next: String?
    /// The transactions.
    public var transactions: [UnfinishedTransaction]

    /// Makes a page.
    public init(next: String?, transactions: [UnfinishedTransaction]) {
        self.next = next
        self.transactions = transactions
    }
}

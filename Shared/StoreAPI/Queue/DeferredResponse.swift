/// A page of the transactions that wait for an approval, the oldest first (`GET
/// /v1/admin/queue/deferred`).
public struct DeferredResponse: Codable, Hashable, Sendable {
    /// The position of the next page; `nil` on the last page.
    public var next: String?
    /// The transactions.
    public var transactions: [DeferredTransaction]

    /// Makes a page.
    public init(next: String?, transactions: [DeferredTransaction]) {
        self.next = next
        self.transactions = transactions
    }
}

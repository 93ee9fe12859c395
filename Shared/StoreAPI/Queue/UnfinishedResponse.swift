/// A page of what apps have yet to finish, by account (`GET /v1/admin/queue/unfinished`).
public struct UnfinishedResponse: Codable, Hashable, Sendable {
    /// Where the next page begins; `nil` on the last.
    public var next: String?
    /// The transactions.
    public var transactions: [UnfinishedTransaction]

    /// Makes a page.
    public init(next: String?, transactions: [UnfinishedTransaction]) {
        self.next = next
        self.transactions = transactions
    }
}

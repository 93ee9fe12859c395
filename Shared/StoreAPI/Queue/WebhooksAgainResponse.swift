/// A response to a request to send webhooks again (`POST /v1/admin/transactions/{id}/webhooks`).
public struct WebhooksAgainResponse: Codable, Hashable, Sendable {
    /// The number of webhooks of the transaction.
    ///
    /// Each of them keeps its id.
    public var webhooks: Int

    /// Makes a response.
    public init(webhooks: Int) { self.webhooks = webhooks }
}

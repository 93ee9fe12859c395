/// What is sent again (`POST /v1/admin/transactions/{id}/webhooks`).
public struct WebhooksAgainResponse: Codable, Hashable, Sendable {
    /// How many webhooks the transaction has; each is sent under the id it has.
    public var webhooks: Int

    /// Makes an answer.
    public init(webhooks: Int) { self.webhooks = webhooks }
}

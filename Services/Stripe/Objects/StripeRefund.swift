/// Money given back, or on its way back.
package struct StripeRefund: Hashable, Sendable, Decodable {
    /// The id, `re_…`.
    package var id: String
    /// The state: `pending`, `requires_action`, `succeeded`, `failed` or `canceled`.
    ///
    /// A refund that has succeeded may still fail days later.
    package var status: String?
    /// The amount, in Stripe's unit.
    package var amount: Int64
    /// The currency in lower case.
    package var currency: String
    /// The time of creation, in seconds since 1970.
    package var created: Int64
    /// The payment.
    package var paymentIntent: StripeReference?
    /// The texts that the store gave it; `attempt` says whose it is.
    ///
    /// A refund that was not made by the store may have none.
    package var metadata: [String: String]?
    /// The reason why it failed.
    package var failureReason: String?

    enum CodingKeys: String, CodingKey {
        case id, status, amount, currency, created, metadata
        case paymentIntent = "payment_intent"
        case failureReason = "failure_reason"
    }
}

/// The saving of a payment method for charges at which the buyer is not present.
package struct StripeSetupIntent: Hashable, Sendable, Decodable {
    /// The id, `seti_…`.
    package var id: String
    /// The state: `succeeded`, `requires_action`, `requires_payment_method`, ….
    package var status: String
    /// The payment method.
    package var paymentMethod: StripeReference?
    /// The buyer at Stripe.
    package var customer: StripeReference?
    /// The text with which its buyer's app continues it, and which nobody else is told.
    package var clientSecret: StripeSecret?

    enum CodingKeys: String, CodingKey {
        case id, status, customer
        case paymentMethod = "payment_method"
        case clientSecret = "client_secret"
    }
}

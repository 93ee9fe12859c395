/// The payment methods of an account, the newest first.
///
/// Answer of `GET /v1/payment-methods`, and of the completion of a setup.
public struct PaymentMethodsResponse: Codable, Hashable, Sendable {
    /// The payment methods.
    public var paymentMethods: [PaymentMethodListing]

    /// Makes an answer.
    public init(paymentMethods: [PaymentMethodListing]) {
        self.paymentMethods = paymentMethods
    }
}

/// A request to pay a subscription by another payment method.
public struct SubscriptionMethodRequest: Codable, Hashable, Sendable {
    /// The payment method, which the account has saved.
    public var paymentMethod: PaymentMethod
    /// Makes a request.
    public init(paymentMethod: PaymentMethod) { self.paymentMethod = paymentMethod }
}

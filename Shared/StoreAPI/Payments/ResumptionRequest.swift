/// A request to resume an interrupted payment (spec rule 114).
public struct ResumptionRequest: Codable, Hashable, Sendable {
    /// The payment method to charge.
    ///
    /// The default is the sandbox's ``SandboxPaymentMethod/success``.
    public var paymentMethod: PaymentMethod?
    /// Makes a request.
    public init(paymentMethod: PaymentMethod? = nil) { self.paymentMethod = paymentMethod }
}

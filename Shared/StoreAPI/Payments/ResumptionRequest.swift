/// A request to take up a payment that was interrupted (spec rule 114).
public struct ResumptionRequest: Codable, Hashable, Sendable {
    /// What to charge; by default the sandbox's ``SandboxPaymentMethod/success``.
    public var paymentMethod: String?
    /// Makes a request.
    public init(paymentMethod: String? = nil) { self.paymentMethod = paymentMethod }
}

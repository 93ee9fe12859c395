/// The payment methods of the built-in sandbox processor, named after their outcome.
public enum SandboxPaymentMethod: String, CaseIterable, Sendable {
    /// The charge succeeds immediately.
    case success = "sandbox_success"
    /// The charge is declined.
    case decline = "sandbox_decline"
    /// The charge fails because of insufficient funds.
    case insufficientFunds = "sandbox_insufficient_funds"
    /// The buyer cancels at the prompt.
    case cancelled = "sandbox_cancelled"
    /// The buyer leaves the prompt to solve a problem (spec rule 114). A resumption succeeds.
    case interrupted = "sandbox_interrupted"
    /// The charge needs approval first, and succeeds once approved.
    case needsApproval = "sandbox_needs_approval"
    /// The charge succeeds, but the answer is lost. A later query finds the charge.
    case unknownCharged = "sandbox_unknown_charged"
    /// Nothing is charged, and the answer is lost. A later query finds no charge.
    case unknownNotCharged = "sandbox_unknown_not_charged"
    /// The charge succeeds after two seconds.
    case slow = "sandbox_slow"
    /// The first two calls fail as temporarily unavailable, then the charge succeeds.
    case flaky = "sandbox_flaky"
    /// A purchase succeeds, and the renewals of its subscription are declined.
    case renewalDeclined = "sandbox_renewal_declined"
    /// A purchase succeeds. A renewal is declined four times, so that the period ends unpaid, and then
    /// succeeds.
    case renewalRecovers = "sandbox_renewal_recovers"

    /// Recognizes a payment method of the sandbox.
    ///
    /// - Returns: `nil` for any other.
    public init?(_ method: PaymentMethod) { self.init(rawValue: method.rawValue) }

    /// The payment method, as a request names it.
    public var method: PaymentMethod { PaymentMethod(rawValue: rawValue) }
}

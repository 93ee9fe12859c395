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

    /// The charge is under way for two seconds, and then succeeds.
    case processing = "sandbox_processing"
    /// The buyer has to confirm the charge on a page, as with 3-D Secure. A renewal, which nobody is
    /// there to confirm, is declined.
    case needsAction = "sandbox_needs_action"
    /// The first two calls are too many, then the charge succeeds.
    case throttled = "sandbox_throttled"
    /// The processor keeps its first error for ever. Under another key the charge succeeds.
    case storedError = "sandbox_stored_error"
    /// The processor charges more than it was asked to, so the money is returned.
    case wrongAmount = "sandbox_wrong_amount"
    /// The charge succeeds. A refund is under way for two seconds, and then succeeds.
    case refundPending = "sandbox_refund_pending"
    /// The charge succeeds, and every refund fails.
    case refundFailed = "sandbox_refund_failed"

    /// Recognizes a payment method of the sandbox.
    ///
    /// - Returns: `nil` for any other.
    public init?(_ method: PaymentMethod) { self.init(rawValue: method.rawValue) }

    /// The payment method, as a request names it.
    public var method: PaymentMethod { PaymentMethod(rawValue: rawValue) }
}

/// The payment methods of the built-in sandbox processor, named for what they give.
public enum SandboxPaymentMethod: String, CaseIterable, Sendable {
    /// Charges at once.
    case success = "sandbox_success"
    /// Declines.
    case decline = "sandbox_decline"
    /// Has too little money.
    case insufficientFunds = "sandbox_insufficient_funds"
    /// The buyer calls it off at the prompt.
    case cancelled = "sandbox_cancelled"
    /// The buyer leaves the prompt to mend something (spec rule 114); a resumption charges.
    case interrupted = "sandbox_interrupted"
    /// Asks for approval first; charges once approved.
    case needsApproval = "sandbox_needs_approval"
    /// Charges, but the answer is lost; an inquiry finds the charge.
    case unknownCharged = "sandbox_unknown_charged"
    /// Does not charge, and the answer is lost; an inquiry finds no charge.
    case unknownNotCharged = "sandbox_unknown_not_charged"
    /// Charges after two seconds.
    case slow = "sandbox_slow"
    /// Refuses the first two calls as temporarily unavailable, then charges.
    case flaky = "sandbox_flaky"
}

/// The decision of a buyer on a page of the sandbox's processor.
///
/// Body of `POST /v1/sandbox/actions/{id}`.
public struct SandboxActionRequest: Codable, Hashable, Sendable {
    /// A buyer's decision.
    public enum Decision: String, Codable, Sendable {
        /// The buyer confirms the charge.
        case complete
        /// The buyer refuses it.
        case refuse
    }

    /// The decision of the buyer.
    public var decision: Decision

    /// Makes a decision.
    public init(decision: Decision) { self.decision = decision }
}

/// An approver's word on a deferred transaction (Ask to Buy).
public struct ApprovalRequest: Codable, Hashable, Sendable {
    /// The word.
    public var decision: Decision
    /// Makes a request.
    public init(decision: Decision) { self.decision = decision }

    /// What an approver can say.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// Charge it.
        case approve
        /// Fail it.
        case decline
    }
}

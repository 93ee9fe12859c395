/// A subscriber's word on a price increase.
public struct PriceConsentDecisionRequest: Codable, Hashable, Sendable {
    /// The word.
    public var decision: Decision
    /// Makes a request.
    public init(decision: Decision) { self.decision = decision }

    /// What a subscriber can say.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// Pay the new price.
        case agree
        /// Do not.
        case decline
    }
}

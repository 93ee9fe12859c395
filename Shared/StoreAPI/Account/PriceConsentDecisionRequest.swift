/// A subscriber's answer to a price increase.
public struct PriceConsentDecisionRequest: Codable, Hashable, Sendable {
    /// The answer.
    public var decision: Decision
    /// Makes a request.
    public init(decision: Decision) { self.decision = decision }

    /// The possible answers of a subscriber.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// The subscriber agrees to the new price.
        case agree
        /// The subscriber declines the new price.
        case decline
    }
}

public import EventTypes

/// A subscriber's answer to the question about a higher price of a subscription.
public struct PriceIncreaseDecisionRequest: Codable, Hashable, Sendable {
    /// The answer.
    public var decision: Decision
    /// The increase that the subscriber was shown; if missing, the present one.
    ///
    /// With it, an answer never counts for a later question.
    public var increaseID: PriceChangeID?

    /// Makes a request.
    public init(decision: Decision, increaseID: PriceChangeID? = nil) {
        self.decision = decision
        self.increaseID = increaseID
    }

    /// The possible answers of a subscriber.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// The subscriber agrees to the new price.
        case agree
        /// The subscriber declines the new price.
        case decline
    }
}

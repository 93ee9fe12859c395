public import EventTypes

/// A request to end a subscription now, in a test.
public struct TestExpiryRequest: Codable, Hashable, Sendable {
    /// The reason; if missing, the customer has turned auto-renew off.
    public var intent: ExpirationIntent?

    /// Makes a request.
    public init(intent: ExpirationIntent? = nil) { self.intent = intent }
}

public import EventTypes

/// A request to turn the renewal of a subscription on or off.
public struct AutoRenewRequest: Codable, Hashable, Sendable {
    /// Whether the subscription renews at the end of its period.
    public var isOn: Bool
    /// The reason of an administrator; an account needs none, and its own is passed over.
    public var reason: ActReason?
    /// Makes a request.
    public init(isOn: Bool, reason: ActReason? = nil) {
        self.isOn = isOn
        self.reason = reason
    }
}

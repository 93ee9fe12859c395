/// A request to turn the renewal of a subscription on or off.
public struct AutoRenewRequest: Codable, Hashable, Sendable {
    /// Whether the subscription renews at the end of its period.
    public var isOn: Bool
    /// Makes a request.
    public init(isOn: Bool) { self.isOn = isOn }
}

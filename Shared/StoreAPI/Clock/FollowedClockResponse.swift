public import EventTypes

/// The change of the store's clock that one process of a service follows.
public struct FollowedClockResponse: Codable, Hashable, Sendable {
    /// The path at which each service answers, without a token.
    public static let path = "/health/clock"

    /// The name of the service.
    public var service: String
    /// The number of the newest change that the process knows; 0 if the clock was never set.
    public var step: Int64
    /// The store's time in the process.
    public var now: StoreTime

    /// Makes an answer.
    public init(service: String, step: Int64, now: StoreTime) {
        self.service = service
        self.step = step
        self.now = now
    }
}

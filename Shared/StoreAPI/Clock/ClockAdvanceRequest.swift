public import EventTypes

/// A request to advance the store's clock, by a span or to a time.
public struct ClockAdvanceRequest: Codable, Hashable, Sendable {
    /// The span, such as `31d` or `1h30m`; see `ClockSpan`.
    public var by: String?
    /// The time that the clock is to show.
    public var to: StoreTime?

    /// Makes a request; exactly one of the two is set.
    public init(by: String? = nil, to: StoreTime? = nil) {
        self.by = by
        self.to = to
    }
}

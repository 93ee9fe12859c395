/// A request to let the store's clock run.
public struct ClockRunRequest: Codable, Hashable, Sendable {
    /// The rate, such as `1h=1d`: a day passes in the store in each hour on the machines.
    ///
    /// The default is the machines' own rate.
    public var rate: String?

    /// Makes a request.
    public init(rate: String? = nil) { self.rate = rate }
}

public import EventTypes

/// A request to ask a subscriber about a higher price now, in a test.
public struct TestPriceIncreaseRequest: Codable, Hashable, Sendable {
    /// The new price, from the next renewal on.
    public var price: Money

    /// Makes a request.
    public init(price: Money) { self.price = price }
}

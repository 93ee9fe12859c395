public import EventTypes

/// A price in the United States that comes into force later.
public struct ScenarioPriceChange: Hashable, Sendable, CustomStringConvertible {
    /// The product's name.
    public let product: String
    /// The price of one unit or period.
    public let price: Money
    /// The time until it comes into force.
    public let delay: ClockSpan
    /// Whether those who have subscribed already pay a higher price too.
    public let isForSubscribers: Bool
    /// The code with which the store has to refuse it; `nil` if it has to accept it.
    public let refused: String?

    /// The step in words.
    public var description: String {
        "let '\(product)' cost \(price) in \(delay)"
            + (isForSubscribers ? ", for subscribers too" : "")
            + (refused.map { ", which is refused with \($0)" } ?? "")
    }
}

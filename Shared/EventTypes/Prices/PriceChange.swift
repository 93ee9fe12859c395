/// A price of a product that is in force from a time on (rule S30 of docs/subscriptions.md).
public struct PriceChange: Codable, Hashable, Sendable {
    /// The price of one unit or period.
    public var price: Money
    /// The time at which it comes into force.
    public var from: StoreTime
    /// The meaning of a higher price for those who have subscribed already.
    public var existingSubscribers: ExistingSubscribers

    /// Makes a change.
    public init(
        price: Money,
        from: StoreTime,
        existingSubscribers: ExistingSubscribers = .preserve
    ) {
        self.price = price
        self.from = from
        self.existingSubscribers = existingSubscribers
    }
}

/// The meaning of a higher price for those who have subscribed already (rule S31).
///
/// A lower price reaches all of them at their next renewal, whatever this says.
public enum ExistingSubscribers: OpenEnum {
    /// They keep their price.
    case preserve
    /// They are asked, or informed, and then pay it too.
    case raise
    /// A meaning that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a meaning.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "preserve": self = .preserve
        case "raise": self = .raise
        default: self = .unknown(rawValue)
        }
    }

    /// The meaning in its wire format.
    public var rawValue: String {
        switch self {
        case .preserve: "preserve"
        case .raise: "raise"
        case .unknown(let rawValue): rawValue
        }
    }
}

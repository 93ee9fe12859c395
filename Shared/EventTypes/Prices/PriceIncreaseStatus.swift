/// The progress of a price increase for one subscription (rules S121 and S122 of
/// docs/subscriptions.md).
public enum PriceIncreaseStatus: OpenEnum {
    /// The customer was not informed yet. The old price is charged.
    case scheduled
    /// The customer was asked and has not answered. Nothing is charged at the new price.
    case pending
    /// The customer has agreed to the new price.
    case agreed
    /// The customer has declined. The subscription ends when the new price would be charged.
    case declined
    /// The customer was informed of an increase that needs no consent.
    case notified
    /// A status that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a status.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "scheduled": self = .scheduled
        case "pending": self = .pending
        case "agreed": self = .agreed
        case "declined": self = .declined
        case "notified": self = .notified
        default: self = .unknown(rawValue)
        }
    }

    /// The status in its wire format.
    public var rawValue: String {
        switch self {
        case .scheduled: "scheduled"
        case .pending: "pending"
        case .agreed: "agreed"
        case .declined: "declined"
        case .notified: "notified"
        case .unknown(let rawValue): rawValue
        }
    }

    /// Whether the new price may be charged.
    public var isAccepted: Bool { self == .agreed || self == .notified }

    /// The number of the status in renewal info and receipts; `nil` if the customer knows nothing yet.
    public var number: Int? {
        switch self {
        case .pending, .declined: 0
        case .agreed, .notified: 1
        case .scheduled, .unknown: nil
        }
    }
}

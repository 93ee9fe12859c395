/// The one who began a period: `transactionReason` of its transaction (rule S5).
public enum PeriodReason: OpenEnum {
    /// The customer: a first purchase, an upgrade, a purchase after the end.
    case purchase
    /// The store: a renewal, also one that recovers a subscription or changes its product.
    case renewal
    /// A reason that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a reason.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "purchase": self = .purchase
        case "renewal": self = .renewal
        default: self = .unknown(rawValue)
        }
    }

    /// The reason in its wire format.
    public var rawValue: String {
        switch self {
        case .purchase: "purchase"
        case .renewal: "renewal"
        case .unknown(let rawValue): rawValue
        }
    }
}

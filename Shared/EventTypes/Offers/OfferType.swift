/// The kind of an offer, which decides who may have it.
public enum OfferType: OpenEnum {
    /// An offer for accounts that never had one in the product's group (rule S44 of
    /// docs/subscriptions.md).
    case introductory
    /// An offer for accounts that have, or had, a subscription in the product's group: the merchant's
    /// server decides who gets it, and signs it (rule S51).
    case promotional
    /// An offer for whoever redeems a code of it (rule S54).
    case code
    /// An offer for accounts whose subscription in the product's group has ended (rule S59).
    case winBack
    /// A kind that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a kind.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "introductory": self = .introductory
        case "promotional": self = .promotional
        case "code": self = .code
        case "winBack": self = .winBack
        default: self = .unknown(rawValue)
        }
    }

    /// The kind in its wire format.
    public var rawValue: String {
        switch self {
        case .introductory: "introductory"
        case .promotional: "promotional"
        case .code: "code"
        case .winBack: "winBack"
        case .unknown(let rawValue): rawValue
        }
    }
}

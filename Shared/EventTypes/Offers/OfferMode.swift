/// The way in which an offer is paid (rule S40 of docs/subscriptions.md).
public enum OfferMode: OpenEnum {
    /// Nothing is paid for the whole length of the offer.
    case freeTrial
    /// A lower price is paid for each of some ordinary periods.
    case payAsYouGo
    /// One price is paid for the whole length of the offer.
    case payUpFront
    /// A mode that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a mode.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "freeTrial": self = .freeTrial
        case "payAsYouGo": self = .payAsYouGo
        case "payUpFront": self = .payUpFront
        default: self = .unknown(rawValue)
        }
    }

    /// The mode in its wire format.
    public var rawValue: String {
        switch self {
        case .freeTrial: "freeTrial"
        case .payAsYouGo: "payAsYouGo"
        case .payUpFront: "payUpFront"
        case .unknown(let rawValue): rawValue
        }
    }
}

/// The kind of an offer, which decides who may have it.
public enum OfferType: OpenEnum {
    /// An offer for accounts that never had one in the product's group (rule S44 of
    /// docs/subscriptions.md).
    case introductory
    /// A kind that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a kind.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        self = rawValue == "introductory" ? .introductory : .unknown(rawValue)
    }

    /// The kind in its wire format.
    public var rawValue: String {
        switch self {
        case .introductory: "introductory"
        case .unknown(let rawValue): rawValue
        }
    }
}

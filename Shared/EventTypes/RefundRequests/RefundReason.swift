/// The reason why a buyer wants a refund: `consumptionRequestReason` of the notification.
public enum RefundReason: OpenEnum {
    /// The buyer did not mean to buy.
    case unintendedPurchase
    /// The buyer did not get the goods, or they do not work.
    case fulfillmentIssue
    /// The buyer does not like the goods.
    case unsatisfied
    /// The law gives the buyer the money back.
    case legal
    /// Any other reason.
    case other
    /// A reason that only a newer version of the store knows.
    case unknown(String)

    /// All reasons that this version knows.
    public static let all: [RefundReason] = [
        .unintendedPurchase, .fulfillmentIssue, .unsatisfied, .legal, .other,
    ]

    /// Recognizes a reason.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        self = Self.all.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
    }

    /// The reason in its wire format.
    public var rawValue: String {
        switch self {
        case .unintendedPurchase: "unintendedPurchase"
        case .fulfillmentIssue: "fulfillmentIssue"
        case .unsatisfied: "unsatisfied"
        case .legal: "legal"
        case .other: "other"
        case .unknown(let rawValue): rawValue
        }
    }
}

/// The reason for which a transaction was made.
public enum TransactionReason: OpenEnum {
    /// The buyer bought the product.
    case purchase
    /// The store charged for the next period of a subscription (rule S5 of docs/subscriptions.md).
    case renewal
    /// The buyer restored an earlier purchase (spec rules 45 to 51).
    case restore
    /// The buyer bought a non-consumable that the account owns already (spec rule X1).
    case ownedAgain
    /// Another member of the account's family bought the product, and shares it.
    case familyShared
    /// A reason that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a reason.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "purchase": self = .purchase
        case "renewal": self = .renewal
        case "restore": self = .restore
        case "ownedAgain": self = .ownedAgain
        case "familyShared": self = .familyShared
        default: self = .unknown(rawValue)
        }
    }

    /// The reason in its wire format.
    public var rawValue: String {
        switch self {
        case .purchase: "purchase"
        case .renewal: "renewal"
        case .restore: "restore"
        case .ownedAgain: "ownedAgain"
        case .familyShared: "familyShared"
        case .unknown(let rawValue): rawValue
        }
    }

    /// Whether the transaction delivers an earlier purchase once more, without a charge.
    ///
    /// An unknown reason is no copy: whatever it is, it was made for something new.
    public var isCopy: Bool { self == .restore || self == .ownedAgain }

    /// Returns the order of a transaction with this reason; `nil` for a copy and for what a family
    /// shares, which were not ordered.
    public func order(of id: TransactionID) -> OrderID? {
        isCopy || self == .familyShared ? nil : OrderID(id)
    }
}

/// The reason why a subscription does not renew.
public enum AutoRenewOffReason: OpenEnum {
    /// The customer turned auto-renew off (rows e9 and e17).
    case customer
    /// The store gave up charging after the billing retry period (row e16).
    case billing
    /// The product cannot be renewed any more (row e20).
    case notForSale
    /// The customer did not agree to a higher price (row e19).
    case price
    /// A period was refunded (rows e34 and e36).
    case refund
    /// A family does not share the subscription any more (row e44). Only the status of a member says so.
    case revoked
    /// The subscription was ended for another reason (row e21).
    case ended
    /// A reason that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a reason.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "customer": self = .customer
        case "billing": self = .billing
        case "notForSale": self = .notForSale
        case "price": self = .price
        case "refund": self = .refund
        case "revoked": self = .revoked
        case "ended": self = .ended
        default: self = .unknown(rawValue)
        }
    }

    /// The reason in its wire format.
    public var rawValue: String {
        switch self {
        case .customer: "customer"
        case .billing: "billing"
        case .notForSale: "notForSale"
        case .price: "price"
        case .refund: "refund"
        case .revoked: "revoked"
        case .ended: "ended"
        case .unknown(let rawValue): rawValue
        }
    }
}

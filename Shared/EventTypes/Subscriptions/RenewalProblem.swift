/// The reason why the last try to renew failed.
public enum RenewalProblem: OpenEnum {
    /// The processor did not charge.
    case billing
    /// The bank wants to see the customer, who was away.
    case buyerMustAct
    /// The product is not renewed any more, or has no price in the storefront (rules S14 and S33).
    case notForSale
    /// The customer has not agreed to the price (row e19).
    case noConsent
    /// A reason that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a reason.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "billing": self = .billing
        case "buyerMustAct": self = .buyerMustAct
        case "notForSale": self = .notForSale
        case "noConsent": self = .noConsent
        default: self = .unknown(rawValue)
        }
    }

    /// The reason in its wire format.
    public var rawValue: String {
        switch self {
        case .billing: "billing"
        case .buyerMustAct: "buyerMustAct"
        case .notForSale: "notForSale"
        case .noConsent: "noConsent"
        case .unknown(let rawValue): rawValue
        }
    }
}

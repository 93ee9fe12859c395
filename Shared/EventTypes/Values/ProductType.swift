/// The four types of product (spec rule 93).
public enum ProductType: OpenEnum {
    /// A product that can be bought again and again. Each purchase is used up.
    case consumable
    /// A product that is bought once and owned permanently.
    case nonConsumable
    /// A subscription that renews automatically.
    case autoRenewableSubscription
    /// A subscription for one period that does not renew automatically.
    case nonRenewingSubscription
    /// A type that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a product type.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "consumable": self = .consumable
        case "nonConsumable": self = .nonConsumable
        case "autoRenewableSubscription": self = .autoRenewableSubscription
        case "nonRenewingSubscription": self = .nonRenewingSubscription
        default: self = .unknown(rawValue)
        }
    }

    /// The type in its wire format.
    public var rawValue: String {
        switch self {
        case .consumable: "consumable"
        case .nonConsumable: "nonConsumable"
        case .autoRenewableSubscription: "autoRenewableSubscription"
        case .nonRenewingSubscription: "nonRenewingSubscription"
        case .unknown(let rawValue): rawValue
        }
    }
}

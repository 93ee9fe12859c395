/// The four types of product (spec rule 93).
public enum ProductType: OpenEnum {
    /// Bought again and again; each purchase is used up.
    case consumable
    /// Bought once, owned for good.
    case nonConsumable
    /// A service for a period that renews by itself.
    case autoRenewableSubscription
    /// A service for a period that does not renew by itself.
    case nonRenewingSubscription
    /// A type that a newer version of the store knows.
    case unknown(String)

    /// Recognises a product type, or keeps it as unknown.
    public init(rawValue: String) {
        switch rawValue {
        case "consumable": self = .consumable
        case "nonConsumable": self = .nonConsumable
        case "autoRenewableSubscription": self = .autoRenewableSubscription
        case "nonRenewingSubscription": self = .nonRenewingSubscription
        default: self = .unknown(rawValue)
        }
    }

    /// The type as it stands on the wire.
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

/// What the store knows of a buyer in an app, beside what was bought: whether the account may pay,
/// where it buys, what waits for its word.
///
/// `payments` publishes it whole at each change, so a client needs no other event to act on it and
/// can tell an older one by ``version``.
public struct Account: Codable, Hashable, Sendable {
    /// The buyer.
    public var accountID: AccountID
    /// The app.
    public var bundleID: BundleID
    /// Counts the changes to this account, from 1; higher wins.
    ///
    /// 0 of an account that nothing was ever said of.
    public var version: Int
    /// Whether it may pay (spec rules 1 and 2); a parent or the store may have blocked it.
    public var canMakePayments: Bool
    /// Where it buys (spec rules 5 to 9); `nil`: nobody has set one, the client's word is taken.
    public var storefront: Storefront?
    /// The purchases it began outside the app and has neither paid nor declined, the oldest first
    /// (spec rule 116).
    public var purchaseIntents: [PurchaseIntent]
    /// The newest price increase of each product that it was asked about (spec rules 106 and 107).
    public var priceConsents: [PriceConsent]

    /// Makes an account.
    public init(
        accountID: AccountID,
        bundleID: BundleID,
        version: Int = 0,
        canMakePayments: Bool = true,
        storefront: Storefront? = nil,
        purchaseIntents: [PurchaseIntent] = [],
        priceConsents: [PriceConsent] = []
    ) {
        self.accountID = accountID
        self.bundleID = bundleID
        self.version = version
        self.canMakePayments = canMakePayments
        self.storefront = storefront
        self.purchaseIntents = purchaseIntents
        self.priceConsents = priceConsents
    }
}

/// A purchase that a buyer began outside the app (a promoted purchase, spec rule 116).
///
/// The app pays it, holds it for later, or declines it.
public struct PurchaseIntent: Codable, Hashable, Sendable {
    /// The intent's own identifier, which the payment names.
    public var id: PurchaseIntentID
    /// What to buy.
    public var productID: ProductID
    /// How many.
    public var quantity: Int
    /// When the buyer began it.
    public var createdAt: Timestamp

    /// Makes an intent.
    public init(
        id: PurchaseIntentID,
        productID: ProductID,
        quantity: Int,
        createdAt: Timestamp
    ) {
        self.id = id
        self.productID = productID
        self.quantity = quantity
        self.createdAt = createdAt
    }
}

/// A price increase that a subscriber has to agree to (spec rules 106 and 107).
public struct PriceConsent: Codable, Hashable, Sendable {
    /// The consent's own identifier; another price is another consent.
    public var id: PriceConsentID
    /// The product whose price rises.
    public var productID: ProductID
    /// The new price.
    public var price: Money
    /// What the subscriber has said.
    public var status: PriceConsentStatus

    /// Makes a consent.
    public init(
        id: PriceConsentID,
        productID: ProductID,
        price: Money,
        status: PriceConsentStatus = .pending
    ) {
        self.id = id
        self.productID = productID
        self.price = price
        self.status = status
    }
}

/// What a subscriber has said of a price increase.
public enum PriceConsentStatus: OpenEnum {
    /// Nothing yet; the app may show the question.
    case pending
    /// The new price is paid from the next renewal on.
    case agreed
    /// The subscription ends rather than cost more.
    case declined
    /// A status that a newer version of the store knows.
    case unknown(String)

    /// Recognises a status, or keeps it as unknown.
    public init(rawValue: String) {
        switch rawValue {
        case "pending": self = .pending
        case "agreed": self = .agreed
        case "declined": self = .declined
        default: self = .unknown(rawValue)
        }
    }

    /// The status as it stands on the wire.
    public var rawValue: String {
        switch self {
        case .pending: "pending"
        case .agreed: "agreed"
        case .declined: "declined"
        case .unknown(let rawValue): rawValue
        }
    }
}

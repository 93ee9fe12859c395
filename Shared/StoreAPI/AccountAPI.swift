public import EventTypes

/// An answer that holds what the store knows of an account in an app.
public struct AccountResponse: Codable, Hashable, Sendable {
    /// The account; at version 0 if nothing was ever said of it.
    public var account: Account
    /// Makes an answer.
    public init(account: Account) { self.account = account }
}

/// What an administrator says of an account in an app; what is left out stays as it is.
public struct AccountChangeRequest: Codable, Hashable, Sendable {
    /// The app.
    public var bundleID: BundleID
    /// Whether the account may pay (spec rules 1 and 2).
    public var canMakePayments: Bool?
    /// Where it buys (spec rules 5 to 9).
    public var storefront: Storefront?

    /// Makes a request.
    public init(
        bundleID: BundleID,
        canMakePayments: Bool? = nil,
        storefront: Storefront? = nil
    ) {
        self.bundleID = bundleID
        self.canMakePayments = canMakePayments
        self.storefront = storefront
    }
}

/// A purchase that a buyer begins outside the app (spec rule 116).
public struct PurchaseIntentRequest: Codable, Hashable, Sendable {
    /// The app that is to pay it.
    public var bundleID: BundleID
    /// What to buy.
    public var productID: ProductID
    /// How many, from 1 to 10.
    public var quantity: Int

    /// Makes a request.
    public init(bundleID: BundleID, productID: ProductID, quantity: Int = 1) {
        self.bundleID = bundleID
        self.productID = productID
        self.quantity = quantity
    }
}

/// An answer that holds one purchase intent.
public struct PurchaseIntentResponse: Codable, Hashable, Sendable {
    /// The intent.
    public var purchaseIntent: PurchaseIntent
    /// Makes an answer.
    public init(purchaseIntent: PurchaseIntent) { self.purchaseIntent = purchaseIntent }
}

/// A price increase that waits for the subscriber's word (spec rules 106 and 107).
public struct PriceConsentRequest: Codable, Hashable, Sendable {
    /// The app.
    public var bundleID: BundleID
    /// The new price.
    public var price: Money

    /// Makes a request.
    public init(bundleID: BundleID, price: Money) {
        self.bundleID = bundleID
        self.price = price
    }
}

/// An answer that holds one price consent.
public struct PriceConsentResponse: Codable, Hashable, Sendable {
    /// The consent.
    public var priceConsent: PriceConsent
    /// Makes an answer.
    public init(priceConsent: PriceConsent) { self.priceConsent = priceConsent }
}

/// A subscriber's word on a price increase.
public struct PriceConsentDecisionRequest: Codable, Hashable, Sendable {
    /// The word.
    public var decision: Decision
    /// Makes a request.
    public init(decision: Decision) { self.decision = decision }

    /// What a subscriber can say.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// Pay the new price.
        case agree
        /// Do not.
        case decline
    }
}

public import Foundation

/// A transaction that the store signed: Apple's `JWSTransactionDecodedPayload`.
public struct JWSTransaction: SignedPayload, Hashable {
    /// The transaction's own number.
    public var transactionId: String
    /// The number of the first purchase of what this one renews or restores.
    public var originalTransactionId: String
    /// The app.
    public var bundleId: String
    /// What was bought.
    public var productId: String
    /// When it was bought, renewed or restored.
    public var purchaseDate: Date
    /// When it was first bought.
    public var originalPurchaseDate: Date
    /// How many were bought.
    public var quantity: Int
    /// `Consumable`, `Non-Consumable`, `Auto-Renewable Subscription`, `Non-Renewing Subscription`.
    public var type: String
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType: String?
    /// When it was signed.
    public var signedDate: Date
    /// `Sandbox` or `Production`.
    public var environment: String
    /// The UUID that the app gave with the payment.
    public var appAccountToken: UUID?
    /// The region of the sale, ISO 3166-1 alpha-3.
    public var storefront: String?
    /// The number of the region of the sale.
    public var storefrontId: String?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String?
    /// ISO 4217.
    public var currency: String?
    /// The total, in thousandths of the currency unit.
    public var price: Int64?
    /// When it was refunded or revoked.
    public var revocationDate: Date?
    /// 1 because of an issue in the app, 0 for another reason.
    public var revocationReason: Int?
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public var revocationType: String?
    /// How much was given back, in thousandths of a per cent.
    public var revocationPercentage: Int64?
    /// When a subscription's period ends.
    public var expiresDate: Date?
    /// Whether a subscription's period ended early because of an upgrade.
    public var isUpgraded: Bool?
    /// The group of a subscription.
    public var subscriptionGroupIdentifier: String?
    /// The number of a subscription's period.
    public var webOrderLineItemId: String?
    /// 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// The offer's name.
    public var offerIdentifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public var offerDiscountType: String?
    /// How long the offer lasts, ISO 8601.
    public var offerPeriod: String?
    /// The number of the download of the app.
    public var appTransactionId: String?

    /// What it says of itself.
    public var claims: SignedClaims {
        SignedClaims(signedAt: signedDate, environment: environment, bundleID: bundleId)
    }
}

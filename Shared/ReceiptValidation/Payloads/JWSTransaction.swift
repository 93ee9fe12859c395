public import Foundation

/// A transaction that the store signed: Apple's `JWSTransactionDecodedPayload`.
public struct JWSTransaction: SignedPayload, Hashable {
    /// The identifier of the transaction.
    public var transactionId: String
    /// The identifier of the first transaction that this one renews or restores.
    public var originalTransactionId: String
    /// The app.
    public var bundleId: String
    /// The product.
    public var productId: String
    /// The date of the purchase, renewal or restore.
    public var purchaseDate: Date
    /// The date of the first purchase.
    public var originalPurchaseDate: Date
    /// The number of units.
    public var quantity: Int
    /// The type: `Consumable`, `Non-Consumable`, `Auto-Renewable Subscription` or `Non-Renewing
    /// Subscription`.
    public var type: String
    /// The ownership: `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType: String?
    /// The date of the signature.
    public var signedDate: Date
    /// The environment: `Sandbox` or `Production`.
    public var environment: String
    /// The UUID that the app passed with the payment.
    public var appAccountToken: UUID?
    /// The storefront of the purchase, ISO 3166-1 alpha-3.
    public var storefront: String?
    /// The number of the storefront.
    public var storefrontId: String?
    /// The reason: `PURCHASE` or `RENEWAL`.
    public var transactionReason: String?
    /// The currency, ISO 4217.
    public var currency: String?
    /// The total price, in thousandths of the currency unit.
    public var price: Int64?
    /// The date of the refund or revocation; `nil` while the buyer has the product.
    public var revocationDate: Date?
    /// The reason for the revocation: 1 an issue in the app, 0 another reason.
    public var revocationReason: Int?
    /// The type of the refund or revocation: `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    ///
    /// A refund of a part may leave the product to the buyer. Then it has a type and no date.
    public var revocationType: String?
    /// The refunded part of the price, in thousandths of a percent.
    public var revocationPercentage: Int64?
    /// The end of a subscription's period.
    public var expiresDate: Date?
    /// Whether a subscription's period ended early because of an upgrade.
    public var isUpgraded: Bool?
    /// The group of a subscription.
    public var subscriptionGroupIdentifier: String?
    /// The identifier of a subscription's period.
    public var webOrderLineItemId: String?
    /// The type of the offer: 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// The identifier of the offer.
    public var offerIdentifier: String?
    /// The discount of the offer: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public var offerDiscountType: String?
    /// The duration of the offer, ISO 8601.
    public var offerPeriod: String?
    /// The identifier of the download of the app.
    public var appTransactionId: String?

    /// The claims to check during verification.
    public var claims: SignedClaims {
        SignedClaims(signedAt: signedDate, environment: environment, bundleID: bundleId)
    }
}

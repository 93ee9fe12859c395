public import Foundation

/// What is known of a subscription's next renewal: Apple's `JWSRenewalInfoDecodedPayload`.
///
/// It names no app: hold its ``originalTransactionId`` against a transaction's.
public struct JWSRenewalInfo: SignedPayload, Hashable {
    /// The number of the subscription's first purchase.
    public var originalTransactionId: String
    /// What is subscribed to.
    public var productId: String
    /// What it renews as.
    public var autoRenewProductId: String?
    /// 1 if it renews, 0 if not.
    public var autoRenewStatus: Int?
    /// When it was signed.
    public var signedDate: Date
    /// `Sandbox` or `Production`.
    public var environment: String
    /// Why it expired: 1 cancelled, 2 billing, 3 price, 4 product, 5 other.
    public var expirationIntent: Int?
    /// Whether the store still tries to charge.
    public var isInBillingRetryPeriod: Bool?
    /// 0 if a price increase is not answered, 1 if it is agreed to.
    public var priceIncreaseStatus: Int?
    /// Until when it is served although it is not paid.
    public var gracePeriodExpiresDate: Date?
    /// 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// The offer's name.
    public var offerIdentifier: String?
    /// Since when it goes on without a gap of 60 days.
    public var recentSubscriptionStartDate: Date?
    /// When it renews.
    public var renewalDate: Date?
    /// ISO 4217.
    public var currency: String?
    /// What the renewal costs, in thousandths of the currency unit.
    public var renewalPrice: Int64?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public var offerDiscountType: String?
    /// How long the offer lasts, ISO 8601.
    public var offerPeriod: String?
    /// The win-back offers that the subscriber may take.
    public var eligibleWinBackOfferIds: [String]?
    /// The UUID that the app gave with the payment.
    public var appAccountToken: UUID?
    /// The number of the download of the app.
    public var appTransactionId: String?

    /// What it says of itself.
    public var claims: SignedClaims {
        SignedClaims(signedAt: signedDate, environment: environment, bundleID: nil)
    }
}

public import Foundation

/// The next renewal of a subscription: Apple's `JWSRenewalInfoDecodedPayload`.
///
/// It does not name an app. Compare its ``originalTransactionId`` with that of a transaction.
public struct JWSRenewalInfo: SignedPayload, Hashable {
    /// The identifier of the subscription's first transaction.
    public var originalTransactionId: String
    /// The product of the subscription.
    public var productId: String
    /// The product of the next renewal.
    public var autoRenewProductId: String?
    /// 1 if the subscription renews, 0 if it does not.
    public var autoRenewStatus: Int?
    /// The date of the signature.
    public var signedDate: Date
    /// `Sandbox` or `Production`.
    public var environment: String
    /// The reason for the expiration: 1 cancelled, 2 billing, 3 price, 4 product, 5 other.
    public var expirationIntent: Int?
    /// Whether the store is still trying to charge.
    public var isInBillingRetryPeriod: Bool?
    /// The answer to a price increase: 0 not answered, 1 agreed.
    public var priceIncreaseStatus: Int?
    /// The end of the grace period, in which an unpaid subscription continues.
    public var gracePeriodExpiresDate: Date?
    /// The type of the offer: 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// The identifier of the offer.
    public var offerIdentifier: String?
    /// The start of the subscription, ignoring gaps of less than 60 days.
    public var recentSubscriptionStartDate: Date?
    /// The date of the renewal.
    public var renewalDate: Date?
    /// The currency, ISO 4217.
    public var currency: String?
    /// The price of the renewal, in thousandths of the currency unit.
    public var renewalPrice: Int64?
    /// The discount of the offer: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.
    public var offerDiscountType: String?
    /// The duration of the offer, ISO 8601.
    public var offerPeriod: String?
    /// The win-back offers for which the subscriber is eligible.
    public var eligibleWinBackOfferIds: [String]?
    /// The UUID that the app passed with the payment.
    public var appAccountToken: UUID?
    /// The identifier of the download of the app.
    public var appTransactionId: String?

    /// The claims to check during verification.
    public var claims: SignedClaims {
        SignedClaims(signedAt: signedDate, environment: environment, bundleID: nil)
    }
}

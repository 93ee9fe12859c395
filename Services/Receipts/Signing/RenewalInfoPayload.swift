import EventTypes
import Foundation

/// The payload of a subscription's renewal info: the fields of Apple's
/// `JWSRenewalInfoDecodedPayload` (spec section 2.3).
///
/// It will be signed like a transaction, once the store sells subscriptions.
struct RenewalInfoPayload: Codable, Hashable, Sendable {
    var originalTransactionId: TransactionID
    var autoRenewProductId: ProductID
    var productId: ProductID
    /// 1: the subscription renews automatically.
    var autoRenewStatus: Int
    /// The reason why it ended, 1 to 5.
    var expirationIntent: Int?
    var isInBillingRetryPeriod: Bool?
    /// 0: the buyer was asked and has not answered; 1: the buyer agreed.
    var priceIncreaseStatus: Int?
    var gracePeriodExpiresDate: Timestamp?
    var offerType: Int?
    var offerIdentifier: String?
    var offerDiscountType: String?
    var offerPeriod: String?
    var signedDate: Timestamp
    var environment: StoreEnvironment
    var recentSubscriptionStartDate: Timestamp?
    var renewalDate: Timestamp?
    var currency: Currency?
    /// The price in thousandths of the currency unit.
    var renewalPrice: Int64?
    var eligibleWinBackOfferIds: [String]?
    var appAccountToken: String?
    var appTransactionId: String?

    /// Returns the bytes to sign: JSON with sorted keys.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}

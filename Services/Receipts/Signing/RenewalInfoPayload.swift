import EventTypes
import Foundation

/// What the store says of a subscription's renewal: the fields of Apple's
/// `JWSRenewalInfoDecodedPayload` (spec section 2.3).
///
/// Signed as transactions are, once the store sells subscriptions.
struct RenewalInfoPayload: Codable, Hashable, Sendable {
    var originalTransactionId: TransactionID
    var autoRenewProductId: ProductID
    var productId: ProductID
    /// 1: it renews by itself.
    var autoRenewStatus: Int
    /// Why it ended, 1 to 5.
    var expirationIntent: Int?
    var isInBillingRetryPeriod: Bool?
    /// 0: asked and not answered; 1: agreed.
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
    /// In thousandths of the currency unit.
    var renewalPrice: Int64?
    var eligibleWinBackOfferIds: [String]?
    var appAccountToken: String?
    var appTransactionId: String?

    /// The bytes that are signed: JSON with sorted keys.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}

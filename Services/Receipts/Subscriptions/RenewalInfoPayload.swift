import EventTypes
import Foundation

/// The payload of signed renewal info: Apple's `JWSRenewalInfoDecodedPayload`, made from a subscription,
/// the win-back offers of its product, and a time.
///
/// The offer is that of the next period (rule S42).
struct RenewalInfoPayload: Codable, Hashable, Sendable {
    /// The customer in the app, as in the signed transaction next to the renewal info (rule S95).
    struct Customer: Decodable, Hashable, Sendable {
        var appAccountToken: String?
        var appTransactionId: String?

        /// Nothing is known.
        init() {}

        /// Reads the payload of a signed transaction.
        ///
        /// - Throws: ``ReceiptsError`` if it is not a payload that `receipts` signs.
        init(payload: [UInt8]) throws(ReceiptsError) {
            do {
                self = try JSONDecoder().decode(Self.self, from: Data(payload))
            } catch {
                throw ReceiptsError(
                    code: .storedReceiptMalformed,
                    detail: "A stored payload is not that of a signed transaction."
                )
            }
        }
    }

    var appAccountToken: String?
    var appTransactionId: String?
    var autoRenewProductId: ProductID
    var autoRenewStatus: Int
    var currency: Currency?
    var eligibleWinBackOfferIds: [OfferID]?
    var environment: StoreEnvironment
    var expirationIntent: Int?
    var gracePeriodExpiresDate: StoreTime?
    var isInBillingRetryPeriod: Bool?
    var offerDiscountType: String?
    var offerIdentifier: String?
    var offerPeriod: String?
    var offerType: Int?
    var originalTransactionId: TransactionID
    var priceIncreaseStatus: Int?
    var productId: ProductID
    var recentSubscriptionStartDate: StoreTime
    var renewalDate: StoreTime
    var renewalPrice: Int64?
    var signedDate: StoreTime

    /// Makes the payload of a subscription, in the state that it has at a time.
    init(
        _ subscription: Subscription,
        of customer: Customer = Customer(),
        winBacks: EligibleWinBacks = EligibleWinBacks(),
        environment: StoreEnvironment,
        signedAt now: StoreTime
    ) {
        appAccountToken = customer.appAccountToken
        appTransactionId = customer.appTransactionId
        let next = subscription.nextProduct
        autoRenewProductId = (next ?? subscription.product).id
        autoRenewStatus = subscription.isAutoRenewOn && subscription.state.isRunning ? 1 : 0
        currency = subscription.nextPrice?.currency
        eligibleWinBackOfferIds = winBacks.ids(for: subscription, at: now)
        self.environment = environment
        expirationIntent = subscription.expirationIntent?.rawValue
        gracePeriodExpiresDate = subscription.gracePeriodEnd
        // It stays, as false, after the store has given up (rule S92).
        isInBillingRetryPeriod =
            switch subscription.state {
            case .inGracePeriod, .inBillingRetryPeriod: true
            case .expired: false
            case .active, .revoked, .unknown: nil
            }
        let offer = subscription.nextOffer
        offerDiscountType = offer?.mode.discountType
        offerIdentifier = offer?.id?.rawValue
        offerPeriod = offer?.period.description
        offerType = offer?.type.number
        originalTransactionId = subscription.id
        priceIncreaseStatus = subscription.priceIncreaseStatus
        productId = subscription.product.id
        recentSubscriptionStartDate = subscription.recentStart
        renewalDate = subscription.period.end
        renewalPrice = subscription.nextPrice?.milliunits
        signedDate = now
    }

    /// Returns the bytes to sign: JSON with sorted keys.
    func encoded() -> [UInt8] {
        var text = PlainJSONText(capacity: 512)
        text.object { text in
            text.member("appAccountToken", appAccountToken)
            text.member("appTransactionId", appTransactionId)
            text.member("autoRenewProductId", autoRenewProductId.rawValue)
            text.member("autoRenewStatus", Int64(autoRenewStatus))
            text.member("currency", currency?.rawValue)
            if let eligibleWinBackOfferIds {
                text.member(
                    "eligibleWinBackOfferIds",
                    strings: eligibleWinBackOfferIds.map(\.rawValue)
                )
            }
            text.member("environment", environment.rawValue)
            text.member("expirationIntent", expirationIntent.map(Int64.init))
            text.member("gracePeriodExpiresDate", gracePeriodExpiresDate)
            if let isInBillingRetryPeriod {
                text.member("isInBillingRetryPeriod", isInBillingRetryPeriod)
            }
            text.member("offerDiscountType", offerDiscountType)
            text.member("offerIdentifier", offerIdentifier)
            text.member("offerPeriod", offerPeriod)
            text.member("offerType", offerType.map(Int64.init))
            text.member("originalTransactionId", originalTransactionId.rawValue)
            text.member("priceIncreaseStatus", priceIncreaseStatus.map(Int64.init))
            text.member("productId", productId.rawValue)
            text.member("recentSubscriptionStartDate", recentSubscriptionStartDate)
            text.member("renewalDate", renewalDate)
            text.member("renewalPrice", renewalPrice)
            text.member("signedDate", signedDate)
        }
        return text.bytes
    }
}

import EventTypes

/// The payload of signed renewal info: Apple's `JWSRenewalInfoDecodedPayload`, made only from a
/// subscription and a time.
///
/// There are no offers and no price increases, so their fields are missing.
struct RenewalInfoPayload: Codable, Hashable, Sendable {
    var autoRenewProductId: ProductID
    var autoRenewStatus: Int
    var currency: Currency?
    var environment: StoreEnvironment
    var expirationIntent: Int?
    var gracePeriodExpiresDate: StoreTime?
    var isInBillingRetryPeriod: Bool?
    var originalTransactionId: TransactionID
    var productId: ProductID
    var recentSubscriptionStartDate: StoreTime
    var renewalDate: StoreTime
    var renewalPrice: Int64?
    var signedDate: StoreTime

    /// Makes the payload of a subscription, in the state that it has at a time.
    init(_ subscription: Subscription, environment: StoreEnvironment, signedAt now: StoreTime) {
        let next = subscription.nextProduct
        autoRenewProductId = (next ?? subscription.product).id
        autoRenewStatus = subscription.isAutoRenewOn && subscription.state.isRunning ? 1 : 0
        currency = next?.price.currency
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
        originalTransactionId = subscription.id
        productId = subscription.product.id
        recentSubscriptionStartDate = subscription.recentStart
        renewalDate = subscription.period.end
        renewalPrice = next.map(\.price.milliunits)
        signedDate = now
    }

    /// Returns the bytes to sign: JSON with sorted keys.
    func encoded() -> [UInt8] {
        var text = PlainJSONText(capacity: 512)
        text.object { text in
            text.member("autoRenewProductId", autoRenewProductId.rawValue)
            text.member("autoRenewStatus", Int64(autoRenewStatus))
            text.member("currency", currency?.rawValue)
            text.member("environment", environment.rawValue)
            text.member("expirationIntent", expirationIntent.map(Int64.init))
            text.member("gracePeriodExpiresDate", gracePeriodExpiresDate)
            if let isInBillingRetryPeriod {
                text.member("isInBillingRetryPeriod", isInBillingRetryPeriod)
            }
            text.member("originalTransactionId", originalTransactionId.rawValue)
            text.member("productId", productId.rawValue)
            text.member("recentSubscriptionStartDate", recentSubscriptionStartDate)
            text.member("renewalDate", renewalDate)
            text.member("renewalPrice", renewalPrice)
            text.member("signedDate", signedDate)
        }
        return text.bytes
    }
}

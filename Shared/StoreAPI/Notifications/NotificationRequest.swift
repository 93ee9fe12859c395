public import EventTypes

/// A notification that an administrator wants sent
/// (`POST /v1/admin/apps/{bundle}/notifications`): any type, whether or not its reason exists.
public struct NotificationRequest: Codable, Hashable, Sendable {
    /// What an extension for many subscribers came to; with `RENEWAL_EXTENSION` `SUMMARY`.
    public struct Summary: Codable, Hashable, Sendable {
        /// The identifier that the request was made under.
        public var requestIdentifier: String
        /// The subscription.
        public var productId: String
        /// The storefronts it was asked for; all if empty.
        public var storefrontCountryCodes: [Storefront]
        /// How many were extended.
        public var succeededCount: Int64
        /// How many could not be.
        public var failedCount: Int64

        /// Makes a summary.
        public init(
            requestIdentifier: String,
            productId: String,
            storefrontCountryCodes: [Storefront],
            succeededCount: Int64,
            failedCount: Int64
        ) {
            self.requestIdentifier = requestIdentifier
            self.productId = productId
            self.storefrontCountryCodes = storefrontCountryCodes
            self.succeededCount = succeededCount
            self.failedCount = failedCount
        }
    }

    /// Apple's name of the type: `REFUND`.
    public var notificationType: String
    /// Apple's name of the subtype, with types that have one.
    public var subtype: String?
    /// The transaction that it tells of, with types that tell of one.
    public var transactionId: TransactionID?
    /// Why a refund is asked for; with `CONSUMPTION_REQUEST`.
    public var consumptionRequestReason: String?
    /// With `RENEWAL_EXTENSION` `SUMMARY`.
    public var summary: Summary?
    /// The token's id; with `EXTERNAL_PURCHASE_TOKEN`.
    public var externalPurchaseId: String?

    /// Makes a request.
    public init(
        notificationType: String,
        subtype: String? = nil,
        transactionId: TransactionID? = nil,
        consumptionRequestReason: String? = nil,
        summary: Summary? = nil,
        externalPurchaseId: String? = nil
    ) {
        self.notificationType = notificationType
        self.subtype = subtype
        self.transactionId = transactionId
        self.consumptionRequestReason = consumptionRequestReason
        self.summary = summary
        self.externalPurchaseId = externalPurchaseId
    }
}

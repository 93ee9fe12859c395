public import EventTypes

/// An administrator's request to send a notification of any type (`POST
/// /v1/admin/apps/{bundle}/notifications`).
///
/// The notified event need not have happened.
public struct NotificationRequest: Codable, Hashable, Sendable {
    /// The result of an extension for many subscribers.
    ///
    /// It belongs to the type `RENEWAL_EXTENSION` with the subtype `SUMMARY`.
    public struct Summary: Codable, Hashable, Sendable {
        /// The identifier of the extension request.
        public var requestIdentifier: String
        /// The subscription.
        public var productId: String
        /// The storefronts of the extension request; all storefronts if empty.
        public var storefrontCountryCodes: [Storefront]
        /// The number of successful extensions.
        public var succeededCount: Int64
        /// The number of failed extensions.
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

    /// Apple's name of the type, such as `REFUND`.
    public var notificationType: String
    /// Apple's name of the subtype, for types that have one.
    public var subtype: String?
    /// The transaction, for types that refer to one.
    public var transactionId: TransactionID?
    /// The reason for the refund request, for `CONSUMPTION_REQUEST`.
    public var consumptionRequestReason: String?
    /// The summary, for `RENEWAL_EXTENSION` with `SUMMARY`.
    public var summary: Summary?
    /// The id of the token, for `EXTERNAL_PURCHASE_TOKEN`.
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

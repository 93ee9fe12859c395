public import EventTypes

/// A response with the signed statuses of an account's subscriptions.
public struct SubscriptionStatusesResponse: Codable, Hashable, Sendable {
    /// The status of one subscription.
    public struct Status: Codable, Hashable, Sendable {
        /// The group of the subscription.
        public var groupID: SubscriptionGroupID
        /// The version of the subscription; the higher one is newer.
        public var version: Int
        /// The number of the state in Apple's interface: 1 active, 2 expired, 3 billing retry, 4
        /// grace period, 5 revoked.
        public var status: Int
        /// The transaction of the newest period: a JWS in compact form.
        public var signedTransaction: String
        /// The renewal info: a JWS in compact form.
        public var signedRenewalInfo: String
        /// Makes a status.
        public init(
            groupID: SubscriptionGroupID,
            version: Int,
            status: Int,
            signedTransaction: String,
            signedRenewalInfo: String
        ) {
            self.groupID = groupID
            self.version = version
            self.status = status
            self.signedTransaction = signedTransaction
            self.signedRenewalInfo = signedRenewalInfo
        }
    }

    /// The statuses, the oldest subscription first.
    public var statuses: [Status]
    /// Makes a response.
    public init(statuses: [Status]) { self.statuses = statuses }
}

import ReceiptValidation

extension Product.SubscriptionInfo {
    /// The state of a subscription, with Apple's numbers.
    ///
    /// A subscriber has the service in the states ``subscribed`` and ``inGracePeriod``.
    public struct RenewalState: RawRepresentable, Hashable, Sendable {
        /// The number of the state.
        public let rawValue: Int
        /// Makes a state from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The period is paid.
        public static let subscribed = RenewalState(rawValue: 1)
        /// The subscription has ended.
        public static let expired = RenewalState(rawValue: 2)
        /// The period is over and the next one is not paid.
        ///
        /// The store tries to charge, and the subscriber has no service.
        public static let inBillingRetryPeriod = RenewalState(rawValue: 3)
        /// The period is over and the next one is not paid.
        ///
        /// The store tries to charge, and the subscriber still has the service.
        public static let inGracePeriod = RenewalState(rawValue: 4)
        /// The period was taken away, such as by a refund.
        public static let revoked = RenewalState(rawValue: 5)
    }
}

extension Product.SubscriptionInfo.RenewalState {
    /// Reads the state from what the store has signed, by the combinations that Apple documents.
    ///
    /// The number beside the signatures is not signed. So it counts only for what it takes away: a
    /// period may be refunded before its transaction is signed again.
    init(_ transaction: JWSTransaction, _ info: JWSRenewalInfo, unsigned number: Int) {
        let hasGrace = info.gracePeriodExpiresDate.map { $0 > info.signedDate } ?? false
        switch info.isInBillingRetryPeriod {
        case true?: self = hasGrace ? .inGracePeriod : .inBillingRetryPeriod
        case false?: self = .expired
        case nil:
            let isRevoked = transaction.revocationDate != nil
            self = isRevoked || number == Self.revoked.rawValue ? .revoked : .subscribed
        }
    }
}

/// ``Product/SubscriptionInfo/RenewalState`` by its short name.
public typealias RenewalState = Product.SubscriptionInfo.RenewalState

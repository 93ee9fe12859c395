import EventTypes

/// The responses of the App Store Server API, with Apple's names (spec section 2.1).
enum ServerAPIBodies {
    struct TransactionInfo: Encodable {
        var signedTransactionInfo: String
    }

    struct AppTransactionInfo: Encodable {
        var signedAppTransactionInfo: String
    }

    struct History: Encodable {
        var revision: String
        var hasMore: Bool
        var bundleId: BundleID
        var appAppleId: Int64?
        var environment: StoreEnvironment
        var signedTransactions: [String]
    }

    struct RefundHistory: Encodable {
        var signedTransactions: [String]
        var revision: String
        var hasMore: Bool
    }

    struct OrderLookup: Encodable {
        /// 0: valid; 1: not an order of this app.
        var status: Int
        var signedTransactions: [String]
    }

    struct SubscriptionStatuses: Encodable {
        /// The subscriptions of one group.
        struct Group: Encodable {
            var subscriptionGroupIdentifier: SubscriptionGroupID
            var lastTransactions: [Item]
        }

        /// The newest transaction of a subscription, and its renewal.
        struct Item: Encodable {
            var status: Int
            var originalTransactionId: TransactionID
            var signedTransactionInfo: String
            var signedRenewalInfo: String
        }

        var environment: StoreEnvironment
        var bundleId: BundleID
        var appAppleId: Int64?
        var data: [Group]
    }

    struct AppAccountToken: Decodable {
        var appAccountToken: String?
    }
}

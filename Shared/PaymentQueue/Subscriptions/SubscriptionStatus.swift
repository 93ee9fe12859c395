import Foundation

extension Product.SubscriptionInfo {
    /// The status of one subscription of the account: its state, its newest period, and its next
    /// renewal.
    ///
    /// The store signs the transaction and the renewal info. The state follows from what they say,
    /// so believe it only if both are verified.
    public struct Status: Hashable, Sendable {
        /// The state.
        public let state: RenewalState
        /// The transaction of the newest period.
        public let transaction: VerificationResult<Transaction>
        /// The next renewal.
        public let renewalInfo: VerificationResult<RenewalInfo>
        /// The group of the subscription.
        let groupID: String
        /// The version of the subscription; the higher one is newer.
        let version: Int
        /// The queue of the account.
        let queue: SKPaymentQueue

        /// Returns the statuses of all the account's subscriptions in this app, ended ones included.
        ///
        /// - Returns: The groups, in the order in which their subscriptions began.
        /// - Throws: ``SKError``, or `CancellationError`.
        public static func all() async throws -> [(groupID: String, statuses: [Status])] {
            try await SKPaymentQueue.default().subscriptionStatuses().inGroups
        }

        /// Turns the renewal off.
        ///
        /// The subscriber keeps the service until the end of the paid period. If the period is over
        /// and unpaid, the subscription ends at once.
        ///
        /// - Throws: ``SKError`` if the store refuses, or `CancellationError`.
        public func cancel() async throws { try await queue.setAutoRenew(false, of: self) }

        /// Turns the renewal on.
        ///
        /// - Throws: ``SKError`` if the store refuses, such as for a subscription that has ended; or
        ///   `CancellationError`.
        public func resume() async throws { try await queue.setAutoRenew(true, of: self) }

        /// Chooses the product of the next period.
        ///
        /// The product of the running period withdraws an earlier choice. A product that replaces
        /// the running one at once has to be bought: the store refuses it with the store code
        /// `payment_needed`.
        ///
        /// - Parameter product: A product of the same group.
        /// - Throws: ``SKError`` if the store refuses, or `CancellationError`.
        public func change(to product: Product) async throws {
            try await queue.chooseProduct(product.id, of: self)
        }

        /// Lets another payment method pay from now on.
        ///
        /// What the subscription owes is charged at once. That is possible five times a day. After
        /// that the store refuses the charge with the store code `too_many_tries`; the method then
        /// pays at the store's next try.
        ///
        /// If the bank wanted to see the subscriber at the last try, it may ask them now: its page is
        /// opened as for a purchase (``StoreConfiguration/buyerActionPage``). The method that pays already
        /// can be named too. Whoever has left the page gets it again by naming its method again. Another
        /// method ends the page and is charged instead.
        ///
        /// - Parameter paymentMethod: The store's name of a method that the account has saved.
        /// - Throws: ``SKError`` if the store refuses, or `CancellationError`.
        public func changePaymentMethod(to paymentMethod: String) async throws {
            try await queue.choosePaymentMethod(paymentMethod, of: self)
        }

        /// Whether two statuses say the same.
        public static func == (left: Status, right: Status) -> Bool {
            left.state == right.state && left.transaction == right.transaction
                && left.renewalInfo == right.renewalInfo
        }

        /// Hashes what the status says.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(state)
            hasher.combine(transaction)
            hasher.combine(renewalInfo)
        }
    }
}

/// ``Product/SubscriptionInfo/Status`` by its short name.
public typealias SubscriptionStatus = Product.SubscriptionInfo.Status

extension Sequence where Element == Product.SubscriptionInfo.Status {
    /// The statuses by their groups, in the order in which the groups occur.
    ///
    /// An account may have a subscription in a group in which its family shares another one.
    var inGroups: [(groupID: String, statuses: [Element])] {
        var groups: [(groupID: String, statuses: [Element])] = []
        for status in self {
            if let index = groups.firstIndex(where: { $0.groupID == status.groupID }) {
                groups[index].statuses.append(status)
            } else {
                groups.append((groupID: status.groupID, statuses: [status]))
            }
        }
        return groups
    }

    /// Returns the status by which the account has the service, of several in a group.
    ///
    /// A subscription that is paid comes before one in a grace period, and this before all others. Then
    /// the higher service counts, and then the later end. A status that is not verified does not count.
    ///
    /// - Parameter products: The products of the group, whose levels say which service is higher.
    /// - Returns: The status; `nil` if none is verified.
    public func effective(among products: [Product] = []) -> Element? {
        var levels: [String: Int] = [:]
        for product in products { levels[product.id] = product.subscription?.groupLevel }
        let ranked = compactMap { status -> (rank: (Int, Int, Date), status: Element)? in
            guard case .verified(let transaction) = status.transaction,
                case .verified = status.renewalInfo
            else { return nil }
            let state =
                switch status.state {
                case .subscribed: 0
                case .inGracePeriod: 1
                default: 2
                }
            let level = levels[transaction.productID] ?? .max
            return ((-state, -level, transaction.expirationDate ?? .distantPast), status)
        }
        return ranked.max { $0.rank < $1.rank }?.status
    }
}

extension Transaction {
    /// The present status of the subscription; `nil` for all other products.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public var subscriptionStatus: Product.SubscriptionInfo.Status? {
        get async throws {
            guard subscriptionGroupID != nil else { return nil }
            return try await source.queue.subscriptionStatuses().first {
                $0.renewalInfo.unsafePayloadValue.originalTransactionID == originalID
            }
        }
    }
}

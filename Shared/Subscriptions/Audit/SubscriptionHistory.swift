public import EventTypes

/// Everything that the books of the services say about one subscription.
public struct SubscriptionHistory: Sendable {
    /// A change that was published: one event of the log.
    public struct Change: Hashable, Sendable {
        /// The time of the change.
        public var time: StoreTime
        /// The cause.
        public var cause: SubscriptionCause
        /// The subscription after the change.
        public var subscription: Subscription
        /// The period that began with it.
        public var newPeriod: PaidPeriod?
        /// Older periods that changed with it.
        public var changedPeriods: [PaidPeriod]
        /// The refunds that it causes.
        public var refunds: [SubscriptionPlan.OwedRefund]

        /// Makes a change of a plan; `nil` if the plan publishes nothing.
        public init?(_ plan: SubscriptionPlan, at time: StoreTime) {
            guard let cause = plan.cause else { return nil }
            self.time = time
            self.cause = cause
            subscription = plan.subscription
            newPeriod = plan.newPeriod
            changedPeriods = plan.changedPeriods
            refunds = plan.refunds
        }

        /// Makes a change of its event.
        ///
        /// - Parameters:
        ///   - event: The event.
        ///   - refunds: The refunds that the change causes, which the event does not list.
        public init(_ event: SubscriptionChanged, refunds: [SubscriptionPlan.OwedRefund]) {
            time = event.changedAt
            cause = event.cause
            subscription = event.subscription
            newPeriod = event.transactionID == nil ? nil : event.subscription.period
            changedPeriods = event.changedPeriods ?? []
            self.refunds = refunds
        }
    }

    /// A charge that the processor made.
    public struct Capture: Hashable, Sendable {
        /// The transaction of the period that it pays; `nil` if it pays none.
        public var transactionID: TransactionID?
        /// The amount.
        public var amount: Money
        /// Whether it was returned because it pays for nothing.
        public var isReturned: Bool

        /// Makes a charge.
        public init(transactionID: TransactionID?, amount: Money, isReturned: Bool = false) {
            self.transactionID = transactionID
            self.amount = amount
            self.isReturned = isReturned
        }
    }

    /// Money that went back to the customer, or is about to.
    public struct Refund: Hashable, Sendable {
        /// The transaction of the period.
        public var transactionID: TransactionID
        /// The amount.
        public var amount: Money
        /// Whether the money came back to the store.
        public var isReversed: Bool

        /// Makes a refund.
        public init(transactionID: TransactionID, amount: Money, isReversed: Bool = false) {
            self.transactionID = transactionID
            self.amount = amount
            self.isReversed = isReversed
        }
    }

    /// A notification that a merchant's server was sent.
    public struct Sent: Hashable, Sendable {
        /// The version of the subscription that it reports.
        public var version: Int
        /// The notification.
        public var notification: SubscriptionNotification

        /// Makes a notification.
        public init(version: Int, notification: SubscriptionNotification) {
            self.version = version
            self.notification = notification
        }
    }

    /// The subscription today.
    public var subscription: Subscription
    /// Its changes, oldest first.
    public var changes: [Change]
    /// The charges of the processor.
    public var captures: [Capture]
    /// The refunds of its periods.
    public var refunds: [Refund]
    /// The notifications in the order in which they were made; `nil` if they are not compared.
    public var sent: [Sent]?
    /// The due actions that are open.
    public var actions: [DueAction]
    /// The charges that are open.
    public var openCharges: [RenewalChargeKey]
    /// The end of the entitlement that the account is shown.
    public var entitlementEnd: StoreTime?
    /// The transactions, open or purchased, with which an introductory offer begins; `nil` if they are
    /// not compared.
    public var introductions: [TransactionID]?
    /// The transaction that the store has noted for the account's introductory offer in the group.
    public var introducedBy: TransactionID?

    /// Makes a history.
    public init(
        subscription: Subscription,
        changes: [Change] = [],
        captures: [Capture] = [],
        refunds: [Refund] = [],
        sent: [Sent]? = nil,
        actions: [DueAction] = [],
        openCharges: [RenewalChargeKey] = [],
        entitlementEnd: StoreTime? = nil
    ) {
        self.subscription = subscription
        self.changes = changes
        self.captures = captures
        self.refunds = refunds
        self.sent = sent
        self.actions = actions
        self.openCharges = openCharges
        self.entitlementEnd = entitlementEnd
    }

    /// The periods, in the order in which they were made, as they are today.
    var periods: [PaidPeriod] {
        var order: [TransactionID] = []
        var newest: [TransactionID: PaidPeriod] = [:]
        for change in changes {
            if let period = change.newPeriod { order.append(period.transactionID) }
            let earlier = [change.subscription.earlierPeriod, change.subscription.period]
            for period in change.changedPeriods + earlier.compactMap(\.self) {
                newest[period.transactionID] = period
            }
        }
        return order.compactMap { newest[$0] }
    }
}

import EventTypes
import StoreTracing

/// All changes that a batch of arrivals makes, decided before anything is written.
///
/// Pure.
///
/// Each change of a transaction is a change of its queue with a revision of its own, even if a
/// batch holds several versions of one transaction. The row keeps the last.
struct QueuePlan: Sendable {
    /// One change of a queue.
    struct Change: Sendable {
        let after: QueuedTransaction
        let snapshot: TransactionSnapshot
        let traceparent: TraceContext?
        let time: StoreTime
        /// The number of the change among those of its queue in this plan, from 1.
        let ordinal: Int64
    }

    /// A change of an account, which is also a change of its queue.
    struct AccountChange: Sendable {
        let arrival: ArrivedAccount
        let time: StoreTime
        /// The number of the change among those of its queue in this plan.
        let ordinal: Int64
    }

    /// A change of a subscription, which is also a change of its queue.
    struct SubscriptionChange: Sendable {
        let arrival: ArrivedSubscription
        let time: StoreTime
        /// The number of the change among those of its queue in this plan.
        let ordinal: Int64
    }

    /// An account's ownership of a product after the batch.
    struct Entitlement: Sendable {
        let queue: QueueKey
        let productID: ProductID
        /// The original transaction, or else the share of a period.
        let originalID: TransactionID
        /// The first share of the same subscription; `nil` for all that is not the share of a period.
        let chainID: TransactionID?
        /// The time of the grant, unless the account had it before.
        let grantedAt: StoreTime
        /// The end of a subscription's period; `nil` for all other products.
        fileprivate(set) var endsAt: StoreTime?
        fileprivate(set) var revokedAt: StoreTime?
        /// Whether it was revoked or given back.
        ///
        /// Otherwise it is only granted, which leaves a row that exists as it is.
        fileprivate(set) var isChanged: Bool
    }

    /// An upgrade gives another product under the same original transaction.
    private struct EntitlementKey: Hashable, Sendable {
        let originalID: TransactionID
        let productID: ProductID
    }

    /// A value that is granted or taken back, with the time.
    struct Timed<Value: Sendable>: Sendable {
        let value: Value
        let time: StoreTime
    }

    private(set) var changes: [Change] = []
    private(set) var accountChanges: [AccountChange] = []
    private(set) var subscriptionChanges: [SubscriptionChange] = []
    private(set) var counts: [QueueKey: Int64] = [:]
    private(set) var deliveries: [DeliveryRules.Delivery] = []
    private(set) var credits: [Timed<DeliveryRules.Credit>] = []
    /// The entitlements, each once.
    private(set) var entitlements: [Entitlement] = []
    private var entitlementIndexes: [EntitlementKey: Int] = [:]
    /// Transactions that were taken back: pending webhooks of their purchase become void.
    private(set) var takenBack: [TransactionID] = []
    /// The transactions as the queues have them, with the changes so far.
    private(set) var known: [TransactionID: QueuedTransaction]

    /// Begins a plan.
    ///
    /// - Parameter existing: The rows of the transactions that the plan may change.
    init(existing: [TransactionID: QueuedTransaction]) {
        known = existing
    }

    /// Plans the changes that arrivals make.
    ///
    /// - Parameters:
    ///   - arrivals: The transactions, in the order they arrived.
    ///   - existing: The rows of the same transactions.
    ///   - accounts: The accounts that arrived with them.
    ///   - versions: The versions of these accounts that the queues have.
    ///   - subscriptions: The subscriptions that have changed without a transaction.
    ///   - shown: The versions of these subscriptions that the queues have shown.
    ///   - contents: The contents hosted for the products of the arrivals. A transaction keeps the
    ///     contents that are current when it is granted.
    ///   - now: The time of the grants.
    /// - Throws: ``FulfillmentError`` if a credit overflows.
    init(
        arrivals: [ArrivedTransaction],
        existing: [TransactionID: QueuedTransaction],
        accounts: [ArrivedAccount] = [],
        versions: [QueueKey: Int] = [:],
        subscriptions: [ArrivedSubscription] = [],
        shown: [TransactionID: Int] = [:],
        contents: [ProductID: HostedContent] = [:],
        now: StoreTime
    ) throws(FulfillmentError) {
        self.init(existing: existing)
        for arrival in arrivals {
            let content = contents[arrival.transaction.productID]
            try arrive(arrival, contents: content.map { HostedContent.json(of: [$0]) }, at: now)
        }
        change(accounts, versions, at: now)
        change(subscriptions, shown, at: now)
    }

    /// Plans the change that one arrival makes.
    ///
    /// - Parameters:
    ///   - arrival: The transaction.
    ///   - contents: The JSON of the contents that the transaction keeps if this change grants it.
    ///   - time: The time of its arrival.
    /// - Returns: The change, or `nil` if the queue has this version or a later one.
    /// - Throws: ``FulfillmentError`` if a credit overflows.
    @discardableResult
    mutating func arrive(
        _ arrival: ArrivedTransaction,
        contents: [UInt8]?,
        at time: StoreTime
    ) throws(FulfillmentError) -> Change? {
        let transaction = arrival.transaction
        let applied = QueueRules.apply(
            transaction,
            to: known[transaction.id],
            isReceipted: arrival.isReceipted
        )
        guard var change = applied else { return nil }
        // Set only once: later changes have traces of their own.
        if known[transaction.id] == nil { change.after.traceparent = arrival.traceparent }
        if change.isGranted, let contents { change.after.contents = contents }
        deliveries += change.deliveries
        if change.isGranted || change.isGivenBack {
            try credit(transaction, .grant, at: time)
            entitle(transaction, at: time, isChanged: change.isGivenBack)
        }
        if change.isMoved { entitle(transaction, at: time, isChanged: true) }
        if change.isTakenBack {
            takenBack.append(transaction.id)
            try credit(transaction, .revoke, at: time)
            entitle(transaction, at: time, isChanged: true)
        }
        return note(
            change.after,
            snapshot: arrival.snapshot,
            traceparent: arrival.traceparent,
            at: time
        )
    }

    /// Adds a change of a transaction that has been decided elsewhere.
    @discardableResult
    mutating func note(
        _ after: QueuedTransaction,
        snapshot: TransactionSnapshot,
        traceparent: TraceContext?,
        at time: StoreTime
    ) -> Change {
        known[after.id] = after
        counts[after.queue, default: 0] += 1
        let change = Change(
            after: after,
            snapshot: snapshot,
            traceparent: traceparent,
            time: time,
            ordinal: counts[after.queue, default: 0]
        )
        changes.append(change)
        return change
    }

    /// Adds one change for each account, with the highest of its versions, behind the changes of
    /// transactions.
    ///
    /// Only the latest state of an account matters, not the way to it.
    mutating func change(
        _ accounts: [ArrivedAccount],
        _ versions: [QueueKey: Int],
        at time: StoreTime
    ) {
        var newest = versions
        for arrival in accounts {
            newest[arrival.queue] = max(newest[arrival.queue] ?? 0, arrival.version)
        }
        for arrival in accounts where newest[arrival.queue] == arrival.version {
            guard arrival.version > versions[arrival.queue] ?? 0 else { continue }
            // Another arrival of the same version is ignored.
            newest[arrival.queue] = nil
            note(arrival, at: time)
        }
    }

    /// Adds a change of an account that has been decided elsewhere.
    @discardableResult
    mutating func note(_ arrival: ArrivedAccount, at time: StoreTime) -> AccountChange {
        counts[arrival.queue, default: 0] += 1
        let change = AccountChange(
            arrival: arrival,
            time: time,
            ordinal: counts[arrival.queue, default: 0]
        )
        accountChanges.append(change)
        return change
    }

    /// Adds one change for each subscription, with the highest of its versions, behind the changes of
    /// accounts.
    private mutating func change(
        _ subscriptions: [ArrivedSubscription],
        _ shown: [TransactionID: Int],
        at time: StoreTime
    ) {
        var newest = shown
        for arrival in subscriptions {
            newest[arrival.id] = max(newest[arrival.id] ?? 0, arrival.version)
        }
        for arrival in subscriptions where newest[arrival.id] == arrival.version {
            guard arrival.version > shown[arrival.id] ?? 0 else { continue }
            // Another arrival of the same version is ignored.
            newest[arrival.id] = nil
            note(arrival, at: time)
        }
    }

    /// Adds a change of a subscription that has been decided elsewhere.
    @discardableResult
    mutating func note(_ arrival: ArrivedSubscription, at time: StoreTime) -> SubscriptionChange {
        counts[arrival.queue, default: 0] += 1
        let change = SubscriptionChange(
            arrival: arrival,
            time: time,
            ordinal: counts[arrival.queue, default: 0]
        )
        subscriptionChanges.append(change)
        return change
    }

    /// The last change of each transaction, which its row keeps.
    var rows: [Change] {
        var last: [TransactionID: Int] = [:]
        for (index, change) in changes.enumerated() { last[change.after.id] = index }
        return last.values.sorted().map { changes[$0] }
    }

    /// The last change of each account, which its row keeps.
    var newestAccounts: [AccountChange] {
        var last: [QueueKey: Int] = [:]
        for (index, change) in accountChanges.enumerated() { last[change.arrival.queue] = index }
        return last.values.sorted().map { accountChanges[$0] }
    }

    /// The last change of each subscription, which its row keeps.
    var newestSubscriptions: [SubscriptionChange] {
        var last: [TransactionID: Int] = [:]
        for (index, change) in subscriptionChanges.enumerated() { last[change.arrival.id] = index }
        return last.values.sorted().map { subscriptionChanges[$0] }
    }

    private mutating func credit(
        _ transaction: Transaction,
        _ kind: DeliveryRules.Credit.Kind,
        at time: StoreTime
    ) throws(FulfillmentError) {
        credits += try DeliveryRules.credits(of: transaction, kind).map {
            Timed(value: $0, time: time)
        }
    }

    /// Notes the entitlement as the transaction leaves it, if its plan has one.
    private mutating func entitle(_ transaction: Transaction, at time: StoreTime, isChanged: Bool) {
        // Revoking a copy takes nothing away, because the original purchase stands. What the refund of
        // a period takes away, its subscription says. A period that a family shares has no subscription,
        // so each share is an entitlement, and a copy of it is none.
        let isShared = transaction.isSharedPeriod
        let isFixed =
            transaction.reason.isCopy || (transaction.subscription != nil && !isShared)
        let isCopyOfShare =
            transaction.reason.isCopy && transaction.subscription != nil
            && transaction.sharedFrom != nil
        guard DeliveryRules.grantsEntitlement(transaction), !(isChanged && isFixed),
            !isCopyOfShare
        else { return }
        let end = isShared ? transaction.subscription?.serviceEnd : transaction.subscription?.end
        let key = EntitlementKey(
            originalID: isShared ? transaction.id : transaction.originalID,
            productID: transaction.productID
        )
        guard let known = entitlementIndexes[key] else {
            entitlementIndexes[key] = entitlements.count
            entitlements.append(
                Entitlement(
                    queue: transaction.queue,
                    productID: transaction.productID,
                    originalID: key.originalID,
                    chainID: isShared ? transaction.originalID : nil,
                    grantedAt: time,
                    endsAt: end,
                    revokedAt: transaction.revokedAt,
                    isChanged: isChanged
                )
            )
            return
        }
        if isChanged {
            entitlements[known].revokedAt = transaction.revokedAt
            entitlements[known].endsAt = end
            entitlements[known].isChanged = true
        }
    }
}

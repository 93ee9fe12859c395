import EventTypes
import Messaging
import Postgres

/// Applies events about transactions, accounts and products from other services to the accounts'
/// queues, and to the projections of subscriptions and of products.
///
/// Every batch takes the same number of statements, whatever its size: lock the queues, read the
/// rows of the queues and of the hosted contents, decide in ``QueuePlan``, write rows, deliveries
/// and grants, and publish. Entitlements and credits are written in the database transaction of the
/// places, and so exactly once.
struct TransactionHandler: EventHandler {
    let now: @Sendable () -> StoreTime
    let machineNow: @Sendable () -> MachineTime
    let publisher: QueuePublisher
    /// Called after the commit, when webhooks may be due.
    let wakeWebhooks: @Sendable () -> Void
    /// The longest time that a webhook may be under way: ``WebhookHandler/lease``.
    let webhookLease: Duration

    let eventTypes = Topics.eventTypes(actedOnBy: .fulfillment)

    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
        let changed = try events.filter { $0.type == .subscriptionChanged }.map { event in
            (event: event, change: try event.decode(SubscriptionChanged.self))
        }
        try SubscriptionProjectionStore.save(changed.map(\.change.subscription), on: connection)
        try ProductNamesStore.save(
            try events.filter { $0.type == .productChanged }.map {
                try $0.decode(ProductChanged.self).product
            },
            on: connection
        )
        let accounts = try events.filter { $0.type == .accountChanged }.map(Self.account(in:))
        let arrivals = try Self.stillOpen(events, on: connection)
            .filter { !Self.typesOfOthers.contains($0.type) }
            .compactMap(Self.arrival(in:))
            // No queue is locked for a renewal that is only begun.
            .filter { QueueRules.isForQueue($0.transaction) }
        let subscriptions = try changed.compactMap { event, change in
            try Self.subscription(in: event, change)
        }
        guard !accounts.isEmpty || !arrivals.isEmpty || !subscriptions.isEmpty else { return }
        let now = now()
        let queues = Set(accounts.map(\.queue))
        try QueueStore.lock(
            queues.union(arrivals.map(\.transaction.queue)).union(subscriptions.map(\.queue)),
            on: connection
        )
        let (existing, versions, shown, contents) = try connection.read(
            QueueStore.transactions(Set(arrivals.map(\.transaction.id))),
            QueueAccountStore.versions(in: queues),
            QueueSubscriptionStore.versions(of: Set(subscriptions.map(\.id))),
            HostedContentStore.offered(
                of: Set(arrivals.lazy.map(\.transaction).filter(\.isPaid).map(\.productID))
            )
        )
        let plan = try QueuePlan(
            arrivals: arrivals,
            existing: existing,
            accounts: accounts,
            versions: versions,
            subscriptions: subscriptions,
            shown: shown,
            contents: contents,
            now: now
        )
        guard !plan.counts.isEmpty else { return }
        let revisions = try QueueStore.advance(plan.counts, on: connection)
        try QueueStore.save(plan.rows, revisions: revisions, on: connection)
        try QueueAccountStore.save(
            plan.accountChanges,
            revisions: revisions,
            on: connection
        )
        try QueueSubscriptionStore.save(
            plan.subscriptionChanges,
            revisions: revisions,
            on: connection
        )
        let machineTime = machineNow()
        try DeliveryStore.insert(plan.deliveries, dueAt: machineTime, on: connection)
        try DeliveryStore.grant(plan, on: connection)
        try DeliveryStore.void(plan.takenBack, on: connection)
        try DeliveryStore.release(
            Set(plan.deliveries.filter(\.isOfRefund).map(\.transactionID)),
            webhookLease: webhookLease,
            now: machineTime,
            on: connection
        )
        try publish(plan, revisions, now, on: connection)
    }

    /// Leaves out the payments that were accepted and are over by now.
    ///
    /// They are nearly all, so nothing is locked and nothing decoded for them. A payment that ends
    /// after this look is left out by its version.
    private static func stillOpen(
        _ events: [ReceivedEvent],
        on connection: isolated PostgresConnection
    ) throws -> [ReceivedEvent] {
        let begun = events.filter { $0.type == .transactionPurchasing }
            .map { TransactionID(unchecked: $0.subject) }
        let known = try QueueStore.known(begun, on: connection)
        guard !known.isEmpty else { return events }
        return events.filter { event in
            event.type != .transactionPurchasing
                || !known.contains(TransactionID(unchecked: event.subject))
        }
    }

    func didCommit(_ events: [ReceivedEvent]) async {
        if events.contains(where: { Self.typesOfWebhooks.contains($0.type) }) { wakeWebhooks() }
    }

    /// The types of the events that are about no transaction.
    private static let typesOfOthers: Set<EventType> = [
        .accountChanged, .subscriptionChanged, .productChanged,
    ]

    /// The types of the events that may cause a webhook.
    private static let typesOfWebhooks: Set<EventType> = [
        .receiptIssued, .transactionRefunded, .transactionRefundReversed,
    ]

    /// Publishes transactions before accounts and subscriptions, in the order of their revisions.
    private func publish(
        _ plan: QueuePlan,
        _ revisions: [QueueKey: Int64],
        _ now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let changes = plan.changes.map { change in
            QueueChange(
                queue: change.after.queue,
                transactionID: change.after.id,
                revision: revisions[change.after.queue, default: 0] + change.ordinal,
                snapshot: change.snapshot,
                isDelivered: change.after.isDelivered,
                finishedAt: change.after.finishedAt,
                contents: change.after.contents,
                traceparent: change.traceparent
            )
        }
        let accounts = plan.accountChanges.map { change in
            QueueAccountChange(
                queue: change.arrival.queue,
                revision: revisions[change.arrival.queue, default: 0] + change.ordinal,
                snapshot: change.arrival.snapshot,
                traceparent: change.arrival.traceparent
            )
        }
        let subscriptions = plan.subscriptionChanges.map { change in
            QueueSubscriptionChange(
                queue: change.arrival.queue,
                id: change.arrival.id,
                revision: revisions[change.arrival.queue, default: 0] + change.ordinal,
                snapshot: change.arrival.snapshot,
                traceparent: change.arrival.traceparent
            )
        }
        try publisher.publish(
            changes,
            as: .queueChanged,
            accounts: accounts,
            subscriptions: subscriptions,
            now: now,
            on: connection
        )
    }

    private static func account(in event: ReceivedEvent) throws -> ArrivedAccount {
        let account = try event.decode(AccountChanged.self).account
        return ArrivedAccount(
            account,
            snapshot: try AccountSnapshot(of: account, in: event.data),
            traceparent: event.traceparent
        )
    }

    /// Returns the subscription of a change, or `nil` if a transaction of the queue says it: one that
    /// was paid.
    private static func subscription(
        in event: ReceivedEvent,
        _ change: SubscriptionChanged
    ) throws -> ArrivedSubscription? {
        guard change.transactionID == nil else { return nil }
        return ArrivedSubscription(
            change.subscription,
            snapshot: try SubscriptionSnapshot(of: change.subscription, in: event.data),
            traceparent: event.traceparent
        )
    }

    /// Returns the transaction in an event, or `nil` if a receipt was signed again for the same
    /// version.
    private static func arrival(in event: ReceivedEvent) throws -> ArrivedTransaction? {
        let transaction: Transaction? =
            switch event.type {
            case .receiptIssued: try event.decode(ReceiptIssued.self).transaction
            case .receiptReissued: try event.decode(ReceiptReissued.self).transaction
            default: try event.decode(TransactionChanged.self).transaction
            }
        guard let transaction else { return nil }
        return ArrivedTransaction(
            transaction: transaction,
            snapshot: try TransactionSnapshot(of: transaction, in: event.data),
            traceparent: event.traceparent,
            isReceipted: [.receiptIssued, .receiptReissued].contains(event.type)
        )
    }
}

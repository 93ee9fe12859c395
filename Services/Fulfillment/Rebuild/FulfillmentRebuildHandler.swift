import EventTypes
import Messaging
import Postgres
import Rebuild

/// Rebuilds the queues, deliveries and grants of `fulfillment` from the service's own log, which
/// carries every transaction that entered a queue, and its projections of subscriptions and of products
/// from the logs of `payments` and `catalog`.
struct FulfillmentRebuildHandler: Rebuilder {
    let sources: [RebuildSource] = [
        .own(
            .fulfillment,
            [
                .queueChanged, .transactionFinished, .queueAccountChanged,
                .queueSubscriptionChanged, .deliveryConfirmed,
            ]
        ),
        .consumed(.payments, [.subscriptionChanged], by: .fulfillment),
        .consumed(.catalog, [.productChanged], by: .fulfillment),
    ]

    let unreadIndexes = [
        "queue_transactions_unfinished", "queue_transactions_finished", "deliveries_due",
        "deliveries_again", "subscriptions_by_account", "queue_subscriptions_by_account",
        "queue_transactions_by_account", "entitlements_in_force", "entitlements_by_product",
    ]

    var tables: [RebuiltTable] { FulfillmentTables.all }

    func apply(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        // The subject of an account's event is not a transaction, and so matches no row. That of a
        // subscription is its first transaction, which is read for nothing.
        let ids = Set(rows.map { TransactionID(unchecked: $0.event.subject) })
        var history = QueueHistory(existing: try shadow.read(QueueStore.transactions(ids)))
        var contradictions: [LogContradiction] = []
        for row in rows {
            contradictions += try LogContradiction.reading([row]) { _ in try history.apply(row) }
        }
        return try contradictions + store(history, on: shadow)
    }

    func consume(_ events: [ReceivedEvent], on shadow: isolated PostgresConnection) throws {
        try SubscriptionProjectionStore.save(
            try events.filter { $0.type == .subscriptionChanged }.map {
                try $0.decode(SubscriptionChanged.self).subscription
            },
            on: shadow
        )
        try ProductNamesStore.save(
            try events.filter { $0.type == .productChanged }.map {
                try $0.decode(ProductChanged.self).product
            },
            on: shadow
        )
    }

    private func store(
        _ history: QueueHistory,
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var history = history
        let plan = history.plan
        try QueueStore.lock(Set(plan.counts.keys), on: shadow)
        let revisions = try QueueStore.advance(plan.counts, on: shadow)
        try QueueStore.save(plan.rows, revisions: revisions, on: shadow)
        try QueueAccountStore.save(plan.newestAccounts, revisions: revisions, on: shadow)
        try QueueSubscriptionStore.save(
            plan.newestSubscriptions,
            revisions: revisions,
            on: shadow
        )
        // The time of a webhook's next try is not compared.
        try DeliveryStore.insert(
            plan.deliveries,
            dueAt: MachineTime(millisecondsSinceEpoch: 0),
            on: shadow
        )
        try DeliveryStore.grant(plan, on: shadow)
        try WebhookStore.confirm(history.confirmed, on: shadow)
        try DeliveryStore.void(plan.takenBack, on: shadow)
        history.judgeRevisions(from: revisions)
        return history.contradictions
    }
}

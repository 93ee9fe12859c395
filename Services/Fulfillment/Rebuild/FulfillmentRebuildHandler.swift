import EventTypes
import Messaging
import Postgres
import Rebuild

/// Rebuilds the queues, deliveries and grants of `fulfillment` from the service's own log, which
/// carries every transaction that entered a queue.
struct FulfillmentRebuildHandler: Rebuilder {
    let sources: [RebuildSource] = [
        .own(
            ServiceName.fulfillment.rawValue,
            [.queueChanged, .transactionFinished, .queueAccountChanged, .deliveryConfirmed]
        )
    ]

    let unreadIndexes = [
        "queue_transactions_unfinished", "queue_transactions_finished", "deliveries_due",
        "deliveries_again", "credit_entries_by_account",
    ]

    var tables: [RebuiltTable] { FulfillmentTables.all }

    func apply(
        _ rows: [OutboxRow],
        of source: RebuildSource,
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var contradictions: [LogContradiction] = []
        var rest = rows[...]
        while !rest.isEmpty {
            // The subject of an account's event is not a transaction, and so matches no row.
            let ids = Set(rest.map { TransactionID(unchecked: $0.event.subject) })
            var history = QueueHistory(existing: try QueueStore.transactions(ids, on: shadow))
            while let row = rest.first, !history.mustBeWritten(before: row) {
                contradictions += try LogContradiction.reading([row]) { _ in
                    try history.apply(row)
                }
                rest.removeFirst()
            }
            contradictions += try store(history, on: shadow)
        }
        return contradictions
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
        try DeliveryStore.insert(plan.deliveries, on: shadow)
        try DeliveryStore.grant(plan, on: shadow)
        try WebhookStore.confirm(history.confirmed, on: shadow)
        try DeliveryStore.takeBack(plan, on: shadow)
        try QueueStore.finish(
            history.finished.map { change in
                QueueChange(
                    queue: change.after.queue,
                    transactionID: change.after.id,
                    revision: revisions[change.after.queue, default: 0] + change.ordinal,
                    snapshot: change.snapshot,
                    isDelivered: change.after.isDelivered,
                    finishedAt: change.after.finishedAt,
                    contents: change.after.contents
                )
            },
            on: shadow
        )
        history.judgeRevisions(from: revisions)
        return history.contradictions
    }
}

import Callbacks
import EventTypes
import Messaging
import Postgres

/// Leases webhooks and records how their tries ended, each in a database transaction of its own.
///
/// The row records a try before the try is made. After a crash, before the request or before its
/// outcome is recorded, the same webhook is sent again with the same id.
struct WebhookHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> StoreTime
    let machineNow: @Sendable () -> MachineTime
    /// The time that a sender has for a try and for recording it.
    let lease: Duration
    let publisher: QueuePublisher

    /// Leases webhooks that are due.
    func take(limit: Int, excluding hosts: [String]) async throws -> [Webhook] {
        let time = now()
        return try await client.withTransaction { [lease, machineNow] connection in
            let now = machineNow()
            let webhooks = try WebhookStore.lease(
                limit: limit,
                excluding: hosts,
                now: now,
                until: now.advanced(by: lease),
                on: connection
            )
            guard !webhooks.isEmpty else { return [] }
            let owned = try EntitlementReadStore.lasting(
                of: Set(webhooks.map(\.queue)),
                at: time,
                on: connection
            )
            return webhooks.map { webhook in
                var webhook = webhook
                webhook.entitlements = NamedEntitlementRules.inForce(
                    owned[webhook.queue] ?? [],
                    at: time
                )
                return webhook
            }
        }
    }

    /// Makes a transaction's webhooks due again, with the same ids.
    ///
    /// - Returns: The number of webhooks, or `nil` if there is no such transaction.
    func sendAgain(_ id: TransactionID) async throws -> Int? {
        let now = machineNow()
        return try await client.withTransaction { connection in
            try WebhookStore.askAgain(for: id, at: now, on: connection)
        }
    }

    /// Returns the time until the next webhook is due, or `nil` if none is pending.
    func untilNextDue() async throws -> Duration? {
        let due = try await client.withConnection { try WebhookStore.nextDue(on: $0) }
        return due.map { max($0.duration(since: machineNow()), .zero) }
    }

    /// Records the outcomes of tries, a batch in one database transaction.
    ///
    /// Transactions whose last delivery this confirms are marked as delivered.
    func record(_ outcomes: [WebhookOutcome]) async throws {
        let (now, machineTime) = (now(), machineNow())
        try await client.withTransaction { [self] connection in
            try record(outcomes, now: now, machineTime: machineTime, on: connection)
        }
    }

    private func record(
        _ outcomes: [WebhookOutcome],
        now: StoreTime,
        machineTime: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try QueueStore.lockExisting(Set(outcomes.map(\.webhook.queue)), on: connection)
        let confirmed = outcomes.filter(\.isConfirmed)
        let failed = outcomes.filter { !$0.isConfirmed }
        if !failed.isEmpty { try WebhookStore.postpone(failed, on: connection) }
        guard !confirmed.isEmpty else { return }
        let confirmations = try WebhookStore.confirm(
            confirmed.compactMap(\.confirmation),
            on: connection
        )
        try DeliveryStore.release(
            Set(confirmations.map(\.transactionID)),
            webhookLease: lease,
            now: machineTime,
            on: connection
        )
        let events = try Self.confirmationEvents(confirmations, of: confirmed, now: now)
        let completed = try WebhookStore.completed(
            among: Set(confirmed.map(\.webhook.transactionID)),
            on: connection
        )
        guard !completed.isEmpty else {
            try publisher.publish([], as: .queueChanged, after: events, now: now, on: connection)
            return
        }
        var counts: [QueueKey: Int64] = [:]
        for row in completed { counts[row.queue, default: 0] += 1 }
        var revisions = try QueueStore.advance(counts, on: connection)
        let changes = completed.map { row in
            revisions[row.queue, default: 0] += 1
            return QueueChange(
                queue: row.queue,
                transactionID: row.id,
                revision: revisions[row.queue, default: 0],
                snapshot: row.snapshot,
                isDelivered: true,
                finishedAt: nil,
                contents: row.contents,
                traceparent: row.traceparent
            )
        }
        try QueueStore.markDelivered(changes, now: now, on: connection)
        try publisher.publish(
            changes,
            as: .queueChanged,
            after: events,
            now: now,
            on: connection
        )
    }

    private static func confirmationEvents(
        _ confirmations: [DeliveryConfirmed],
        of outcomes: [WebhookOutcome],
        now: StoreTime
    ) throws -> [OutboxEvent] {
        let webhooks = Dictionary(
            outcomes.map { ($0.webhook.transactionID, $0.webhook) },
            uniquingKeysWith: { first, _ in first }
        )
        return try confirmations.map { confirmation in
            guard let webhook = webhooks[confirmation.transactionID] else {
                throw FulfillmentError(
                    .rowMissing,
                    "no webhook was sent of transaction \(confirmation.transactionID)"
                )
            }
            return try OutboxEvent(
                confirmation,
                type: .deliveryConfirmed,
                topic: Topics.fulfillmentTransactions,
                key: webhook.queue.accountID.rawValue,
                subject: confirmation.transactionID.rawValue,
                time: now,
                traceparent: webhook.traceparent
            )
        }
    }
}

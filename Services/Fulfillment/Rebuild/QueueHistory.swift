import EventTypes
import Messaging
import Rebuild

/// The queues and deliveries that follow from a part of the log of `fulfillment`, when the rules
/// are applied to the transactions in its events.
///
/// Pure. The log gives the order. Each event is decided again by ``QueueRules``, and a different
/// result is a contradiction in the log.
struct QueueHistory {
    private(set) var plan: QueuePlan
    private(set) var confirmed: [DeliveryConfirmed] = []
    private(set) var contradictions: [LogContradiction] = []
    /// The revisions in the log, in the order in which the plan counts them.
    private(set) var revisions:
        [(row: OutboxRow, queue: QueueKey, ordinal: Int64, recorded: Int64)] =
            []

    /// Creates a history without events.
    ///
    /// - Parameter existing: The rows of the transactions that appear in the log.
    init(existing: [TransactionID: QueuedTransaction]) {
        plan = QueuePlan(existing: existing)
    }

    /// Applies an event.
    ///
    /// - Throws: `DecodingError`, or ``FulfillmentError`` if a credit overflows.
    mutating func apply(_ row: OutboxRow) throws {
        let data = row.event.data
        switch row.event.type {
        case .deliveryConfirmed:
            confirmed.append(try EventCoding.decode(DeliveryConfirmed.self, from: data))
        case .queueAccountChanged:
            let event = try EventCoding.decode(QueueAccountChanged.self, from: data)
            let arrival = ArrivedAccount(
                event.account,
                snapshot: try AccountSnapshot(of: event.account, in: data)
            )
            let change = plan.note(arrival, at: row.event.time)
            revisions.append((row, arrival.queue, change.ordinal, event.revision))
        case .queueSubscriptionChanged:
            let event = try EventCoding.decode(QueueSubscriptionChanged.self, from: data)
            let arrival = ArrivedSubscription(
                event.subscription,
                snapshot: try SubscriptionSnapshot(of: event.subscription, in: data)
            )
            let change = plan.note(arrival, at: row.event.time)
            revisions.append((row, arrival.queue, change.ordinal, event.revision))
        case .transactionFinished:
            try finish(EventCoding.decode(QueueChanged.self, from: data), row)
        default:
            try change(EventCoding.decode(QueueChanged.self, from: data), row)
        }
    }

    private mutating func change(_ event: QueueChanged, _ row: OutboxRow) throws {
        let transaction = event.transaction
        let snapshot = try TransactionSnapshot(of: transaction, in: row.event.data)
        let before = plan.known[transaction.id]
        var change: QueuePlan.Change?
        if var delivered = before, delivered.version == transaction.version, !delivered.isDelivered
        {
            // The same version again means that the last of its deliveries was confirmed.
            delivered.isDelivered = true
            change = plan.note(
                delivered,
                snapshot: snapshot,
                traceparent: row.event.traceparent,
                at: row.event.time
            )
        } else {
            change = try plan.arrive(
                ArrivedTransaction(
                    transaction: transaction,
                    snapshot: snapshot,
                    traceparent: row.event.traceparent
                ),
                contents: event.contents.map { HostedContent.json(of: $0) },
                at: row.event.time
            )
        }
        guard let change else {
            return contradict(row, "the queue knew version \(before?.version ?? 0) already")
        }
        revisions.append((row, change.after.queue, change.ordinal, event.revision))
        if change.after.isDelivered != event.isDelivered {
            contradict(
                row,
                "by its delivery plan it is not \(event.isDelivered ? "" : "un")delivered"
            )
        }
        if change.after.finishedAt != event.finishedAt {
            contradict(row, "it was finished at another time")
        }
    }

    private mutating func finish(_ event: QueueChanged, _ row: OutboxRow) throws {
        guard var after = plan.known[event.transaction.id] else {
            return contradict(row, "the log does not say how it entered the queue")
        }
        if QueueRules.finish(after, from: after.queue) != .finish {
            contradict(row, "it could not be finished")
        }
        after.finishedAt = event.finishedAt ?? row.event.time
        let change = plan.note(
            after,
            snapshot: try TransactionSnapshot(of: event.transaction, in: row.event.data),
            traceparent: row.event.traceparent,
            at: row.event.time
        )
        revisions.append((row, after.queue, change.ordinal, event.revision))
    }

    /// Checks the revisions in the log, given the queues' previous revisions.
    mutating func judgeRevisions(from before: [QueueKey: Int64]) {
        for entry in revisions
        where before[entry.queue, default: 0] + entry.ordinal != entry.recorded {
            let expected = before[entry.queue, default: 0] + entry.ordinal
            contradict(
                entry.row,
                "its revision is \(entry.recorded), and it is the \(expected)th change"
            )
        }
    }

    private mutating func contradict(_ row: OutboxRow, _ reason: String) {
        contradictions.append(LogContradiction(row, reason))
    }
}

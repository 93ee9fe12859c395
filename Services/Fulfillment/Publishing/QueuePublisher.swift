import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import StoreTracing

/// Publishes changes of queues: to the log for everybody, and to the streams of this process at once.
///
/// The log brings each change as well, some ten milliseconds later. The hub then leaves it out, by its
/// revision. So the log serves the streams of other instances, and what this process did not get to
/// pass on because it was killed.
struct QueuePublisher: Sendable {
    /// Passes committed changes on to the streams of this process.
    let pass: @Sendable ([QueueKey: [QueueMessage]], [OutboxEvent]) -> Void
    /// Called after a commit that has appended events.
    let wakeRelay: @Sendable () -> Void

    /// Appends the events of changes, and passes them on after the commit.
    ///
    /// This is the last statement of a database transaction.
    ///
    /// - Parameters:
    ///   - changes: Changes of transactions, each queue's in the order of their revisions.
    ///   - type: The type of their events.
    ///   - accounts: Changes of accounts, whose revisions follow.
    ///   - subscriptions: Changes of subscriptions, whose revisions follow those.
    ///   - others: Events for the log only, which come first.
    ///   - now: The store's time.
    ///   - connection: The connection with the open database transaction.
    /// - Throws: `PostgresError`.
    func publish(
        _ changes: [QueueChange],
        as type: EventType,
        accounts: [QueueAccountChange] = [],
        subscriptions: [QueueSubscriptionChange] = [],
        after others: [OutboxEvent] = [],
        now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        var messages: [QueueKey: [QueueMessage]] = [:]
        var events: [OutboxEvent] = []
        func append(
            _ message: QueueMessage,
            as type: EventType,
            about subject: String,
            _ queue: QueueKey,
            _ traceparent: TraceContext?
        ) {
            messages[queue, default: []].append(message)
            events.append(
                OutboxEvent(
                    id: EventID(time: now),
                    type: type,
                    topic: type == .transactionFinished
                        ? Topics.fulfillmentTransactions : Topics.fulfillmentQueues,
                    key: queue.accountID.rawValue,
                    subject: subject,
                    time: now,
                    traceparent: traceparent,
                    data: message.data
                )
            )
        }
        for change in changes {
            let id = change.transactionID.rawValue
            append(change.message, as: type, about: id, change.queue, change.traceparent)
        }
        for change in accounts {
            let id = change.queue.accountID.rawValue
            let type = EventType.queueAccountChanged
            append(change.message, as: type, about: id, change.queue, change.traceparent)
        }
        for change in subscriptions {
            let id = change.id.rawValue
            let type = EventType.queueSubscriptionChanged
            append(change.message, as: type, about: id, change.queue, change.traceparent)
        }
        guard !others.isEmpty || !events.isEmpty else { return }
        try Outbox.append(others + events, on: connection)
        connection.afterCommit { [pass, wakeRelay, messages, events] in
            if !messages.isEmpty { pass(messages, events) }
            wakeRelay()
        }
    }
}

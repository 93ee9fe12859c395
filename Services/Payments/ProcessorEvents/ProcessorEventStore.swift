import EventTypes
import Messaging
import Postgres

/// The tables of what the processor tells by itself.
enum ProcessorEventStore {
    /// Writes events; those that were told before stay as they are.
    ///
    /// - Parameters:
    ///   - events: The events.
    ///   - time: The present.
    ///   - due: The time of the first look at them.
    ///   - connection: A connection.
    /// - Throws: `PostgresError`.
    static func insert(
        _ events: [ProcessorEvent],
        at time: MachineTime,
        dueAt due: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !events.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO processor_events
                (processor_account, event_id, type, object_id, transaction_id, attempt_id,
                created_at, received_at, due_at)
            SELECT *, \(time), \(due) FROM unnest(
                \(events.map(\.account.rawValue)), \(events.map(\.id)),
                \(events.map(\.type)), \(events.map(\.objectID)),
                \(events.map { $0.attempt?.transactionID.number }),
                \(events.map { $0.attempt?.id.bytes }), \(events.map(\.createdAt)))
            ON CONFLICT (processor_account, event_id) DO NOTHING
            """
        )
    }

    /// Takes events of an account at Stripe that are due, for the length of a lease.
    static func takeDue(
        of account: ProcessorAccountName,
        at time: MachineTime,
        until leaseEnd: MachineTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorEvent] {
        try connection.query(
            """
            WITH due AS MATERIALIZED (
                SELECT event_id FROM processor_events
                WHERE processor_account = \(account.rawValue) AND due_at <= \(time)
                ORDER BY due_at LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED
            )
            UPDATE processor_events AS e SET due_at = \(leaseEnd), tries = tries + 1
            FROM due
            WHERE e.processor_account = \(account.rawValue) AND e.event_id = due.event_id
            RETURNING e.event_id, e.type, e.object_id, e.transaction_id, e.attempt_id,
                e.created_at, e.tries
            """
        ).map { row in
            let (id, type, object, transaction, attempt, created, tries) = try row.decode(
                String.self,
                String.self,
                String.self,
                Int64?.self,
                SIMD16<UInt8>?.self,
                MachineTime.self,
                Int32.self
            )
            return ProcessorEvent(
                account: account,
                id: id,
                type: type,
                objectID: object,
                attempt: transaction.flatMap { number in
                    attempt.map { bytes in
                        ProcessorSubject(
                            transactionID: TransactionID(number: number),
                            id: AttemptID(bytes: bytes)
                        )
                    }
                },
                createdAt: created,
                tries: Int(tries)
            )
        }
    }

    /// Notes that an event is applied.
    static func finish(
        _ event: ProcessorEvent,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE processor_events SET due_at = NULL, applied_at = \(time)
            WHERE processor_account = \(event.account.rawValue) AND event_id = \(event.id)
                AND applied_at IS NULL
            """
        )
    }

    /// Sets the time of the next look at an event.
    static func postpone(
        _ event: ProcessorEvent,
        until time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE processor_events SET due_at = \(time)
            WHERE processor_account = \(event.account.rawValue) AND event_id = \(event.id)
                AND applied_at IS NULL
            """
        )
    }

    /// Removes events that were applied before a time.
    static func prune(
        appliedBefore end: MachineTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            DELETE FROM processor_events WHERE (processor_account, event_id) IN (
                SELECT processor_account, event_id FROM processor_events
                WHERE applied_at < \(end)
                ORDER BY applied_at LIMIT \(Int64(limit)))
            """
        )
    }
}

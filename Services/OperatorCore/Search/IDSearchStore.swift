import EventTypes
import Messaging
import Postgres
import StoreTracing

/// The SQL that finds things by an id, or by a word, that somebody has pasted.
enum IDSearchStore {
    /// The most campaigns that are looked at for a custom code, the newest first.
    static let campaignsMax: Int64 = 10_000

    /// Whether `catalog` has a product.
    static func knows(
        _ id: ProductID,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query("SELECT 1 FROM products WHERE id = \(id)").isEmpty
    }

    /// Whether `payments` has a campaign of offer codes.
    static func knows(
        campaign id: Int64,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query("SELECT 1 FROM code_campaigns WHERE id = \(id)").isEmpty
    }

    /// The newest campaign of a custom code; `nil` if there is none among the newest ones.
    static func campaign(
        of word: String,
        campaignsMax: Int64 = campaignsMax,
        on connection: isolated PostgresConnection
    ) throws -> Int64? {
        try connection.query(
            """
            SELECT id FROM (
                SELECT id, word FROM code_campaigns ORDER BY id DESC LIMIT \(campaignsMax)
            ) AS newest
            WHERE word = \(word) ORDER BY id DESC LIMIT 1
            """
        ).first?.decode(Int64.self)
    }

    /// The organizer of a family; `nil` if there is no such family.
    static func organizer(
        of id: FamilyID,
        on connection: isolated PostgresConnection
    ) throws -> AccountID? {
        try connection.query("SELECT data FROM families WHERE id = \(id)").first.map { row in
            try row.decode(PostgresJSON.self).decode(Family.self).organizer
        }
    }

    /// The transaction that a notification of `receipts` is about; `nil` if there is none.
    static func transaction(
        notifiedBy id: EventID,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID? {
        let number = try connection.query(
            """
            SELECT transaction_id FROM notifications
            WHERE id = \(id) AND transaction_id IS NOT NULL
            """
        ).first?.decode(Int64.self)
        return number.map { TransactionID(number: $0) }
    }

    /// The transaction that a dispute of the processor is about; `nil` if there is none.
    static func transaction(
        disputedBy id: String,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID? {
        let number = try connection.query(
            "SELECT transaction_id FROM processor_disputes WHERE dispute_id = \(id)"
        ).first?.decode(Int64.self)
        return number.map { TransactionID(number: $0) }
    }

    /// The transaction of a charge or a refund, by the processor's id of it or of what moved, or by
    /// the store's id of the attempt; `nil` if it is not among the newest ones.
    ///
    /// No index has these ids, so it looks at a limited number of attempts and of movements.
    static func transaction(
        movedBy id: String,
        attemptsMax: Int64,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID? {
        let number = try connection.query(
            """
            SELECT transaction_id FROM (
                SELECT transaction_id, attempt_id, reference, failed_reference
                FROM processor_attempts
                ORDER BY transaction_id DESC, kind DESC, number DESC LIMIT \(attemptsMax)
            ) AS newest
            WHERE reference = \(id) OR failed_reference = \(id) OR attempt_id::text = \(id)
                OR attempt_id IN (
                    SELECT attempt_id FROM processor_movements
                    WHERE (movement_id = \(id) OR payment = \(id)) AND attempt_id IS NOT NULL
                    UNION ALL
                    SELECT attempt_id FROM (
                        SELECT attempt_id, source FROM processor_movements
                        ORDER BY number DESC LIMIT \(attemptsMax)
                    ) AS moved
                    WHERE source = \(id) AND attempt_id IS NOT NULL
                )
            ORDER BY transaction_id DESC LIMIT 1
            """
        ).first?.decode(Int64.self)
        return number.map { TransactionID(number: $0) }
    }

    /// The newest event of a trace; `nil` if it is not among the newest events of the log.
    ///
    /// No index has the traces, so it looks at a limited number of events.
    static func event(
        in trace: TraceID,
        eventsMax: Int64,
        on connection: isolated PostgresConnection
    ) throws -> FoundEvent? {
        try connection.query(
            """
            SELECT topic, key, subject FROM (
                SELECT topic, key, subject, traceparent, xid, position FROM outbox
                ORDER BY xid DESC, position DESC LIMIT \(eventsMax)
            ) AS newest
            WHERE encode(substring(traceparent FROM 1 FOR 16), 'hex') = \(trace.description)
            ORDER BY xid DESC, position DESC LIMIT 1
            """
        ).first.map { row in
            let (topic, key, subject) = try row.decode(String.self, String.self, String.self)
            return FoundEvent(topic: topic, key: key, subject: subject)
        }
    }
}

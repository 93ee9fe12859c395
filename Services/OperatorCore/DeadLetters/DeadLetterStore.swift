package import EventTypes
package import Foundation
import Messaging
package import Postgres
import StoreTracing

/// The SQL with which the operator reads and discards dead letters.
package enum DeadLetterStore {
    /// The dead letters to read.
    package struct Query: Sendable {
        var key: String?
        var id: Int64?
        /// Whether settled dead letters are read, too.
        var isAll = false
        /// The only state that is read; empty for all.
        var state = ""
        var limit = 100

        /// Makes a query.
        package init(
            key: String? = nil,
            id: Int64? = nil,
            isAll: Bool = false,
            state: String = "",
            limit: Int = 100
        ) {
            self.key = key
            self.id = id
            self.isAll = isAll
            self.state = state
            self.limit = limit
        }
    }

    /// Dead letters of a database, oldest first.
    package static func letters(
        _ query: Query,
        on connection: isolated PostgresConnection
    ) throws -> [RecordedDeadLetter] {
        // One letter is read as a range of one id, so that every plan can use the index.
        let (first, last) = query.id.map { ($0, $0) } ?? (0, Int64.max)
        let rows = try connection.query(
            """
            SELECT id, consumer, event_id, state, key, type, subject, topic, partition, "offset",
                time, recorded_at, redrive_requested_at, settled_at, reason, act,
                traceparent
            FROM dead_letters
            WHERE (\(query.isAll) OR state IN ('dead', 'parked'))
                AND (\(query.state) = '' OR state = \(query.state))
                AND (\(query.key as String?)::text IS NULL OR key = \(query.key as String?))
                AND id BETWEEN \(first) AND \(last)
            ORDER BY id LIMIT \(Int64(query.limit))
            """
        )
        return try rows.map { row in
            let (
                id, consumer, event, state, key, type, subject, topic, partition, offset, time,
                recorded, requested, settled, reason, act, trace
            ) = try row.decode(
                Int64.self,
                String.self,
                EventID.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                Int32.self,
                Int64.self,
                StoreTime.self,
                MachineTime.self,
                MachineTime?.self,
                MachineTime?.self,
                String.self,
                PostgresJSON?.self,
                String?.self
            )
            return RecordedDeadLetter(
                service: consumer,
                id: id,
                eventID: event,
                state: state,
                key: key,
                type: type,
                subject: subject,
                topic: topic,
                partition: partition,
                offset: offset,
                time: time,
                recordedAt: recorded,
                redriveRequestedAt: requested,
                settledAt: settled,
                reason: reason,
                act: try act.map { try $0.decode(Act.self) },
                traceparent: trace.flatMap { TraceContext($0) }
            )
        }
    }

    /// The event's data, as received.
    package static func data(of id: Int64, on connection: isolated PostgresConnection) throws
        -> Data?
    {
        try connection.query("SELECT data FROM dead_letters WHERE id = \(id)").first
            .map { Data(try $0.decode([UInt8].self)) }
    }

    /// The number of a key's open dead letters that wait for the consumer to redrive them, and the
    /// number of all its open ones.
    package static func open(
        key: String,
        on connection: isolated PostgresConnection
    ) throws -> (requested: Int, all: Int) {
        let rows = try connection.query(
            """
            SELECT count(*) FILTER (WHERE redrive_requested_at IS NOT NULL), count(*)
            FROM dead_letters WHERE key = \(key) AND state IN ('dead', 'parked')
            """
        )
        guard let row = rows.first else { return (0, 0) }
        let (requested, all) = try row.decode(Int64.self, Int64.self)
        return (Int(requested), Int(all))
    }

    /// A page of the keys that have open dead letters, in the order of the keys' bytes.
    ///
    /// - Parameters:
    ///   - key: The last key of the page before; empty for the first page.
    ///   - limit: The most keys to return.
    ///   - connection: A connection.
    /// - Returns: The keys.
    /// - Throws: `PostgresError`.
    package static func openKeys(
        after key: String,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [String] {
        try connection.query(
            """
            SELECT DISTINCT key COLLATE "C" FROM dead_letters
            WHERE state IN ('dead', 'parked') AND key COLLATE "C" > \(key)
            ORDER BY key COLLATE "C" LIMIT \(Int64(limit))
            """
        ).map { try $0.decode(String.self) }
    }

    /// Counts the open dead letters of each key, in the order of the keys' bytes.
    ///
    /// - Parameters:
    ///   - key: The last key of the page before; empty for the first page.
    ///   - limit: The most keys to return.
    ///   - connection: A connection.
    /// - Returns: The counts.
    /// - Throws: `PostgresError`.
    package static func openLetters(
        after key: String,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [OpenLetters] {
        try connection.query(
            """
            SELECT consumer, key COLLATE "C", count(*) FILTER (WHERE state = 'dead'),
                count(*) FILTER (WHERE state = 'parked'), min(recorded_at),
                bool_or(redrive_requested_at IS NOT NULL)
            FROM dead_letters
            WHERE state IN ('dead', 'parked') AND key COLLATE "C" > \(key)
            GROUP BY key COLLATE "C", consumer ORDER BY key COLLATE "C" LIMIT \(Int64(limit))
            """
        ).map { row in
            let (service, key, dead, parked, since, isAsked) = try row.decode(
                String.self,
                String.self,
                Int64.self,
                Int64.self,
                MachineTime.self,
                Bool.self
            )
            return OpenLetters(
                service: service,
                key: key,
                dead: Int(dead),
                parked: Int(parked),
                since: since,
                isAsked: isAsked
            )
        }
    }

    /// Discards a dead letter for good, with the reason of the act.
    ///
    /// - Returns: Whether it was open until now.
    package static func discard(
        _ id: Int64,
        by act: Act,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try connection.execute(
            """
            UPDATE dead_letters
            SET state = 'discarded', settled_at = now(), act = \(try PostgresJSON(encoding: act))
            WHERE id = \(id) AND state IN ('dead', 'parked')
            """
        ) == 1
    }
}

package import EventTypes
import Messaging
import Postgres
import StoreAPI

/// A service's state, as its database shows it.
package struct DatabaseStatus: Encodable, Hashable, Sendable {
    /// A number of waiting things, and the time since when the oldest waits.
    package struct Waiting: Encodable, Hashable, Sendable {
        /// The number.
        package let count: Int
        /// Whether there may be more.
        package let isAtLeast: Bool
        /// The time since when the oldest waits, in milliseconds since 1970.
        package let oldest: StoreTime?
    }

    /// The newest migration.
    package var schema = ""
    /// Events that are yet to be published.
    package var outbox = Waiting(count: 0, isAtLeast: false, oldest: nil)
    /// Events that could not be applied; at most 10,000.
    package var dead = 0
    /// Events that wait behind those; at most 10,000.
    package var parked = 0
    /// Other waiting work, by name: `unfinished`, `webhooks`, `notifications`, `charges`.
    package var work: [String: Waiting] = [:]
}

/// The SQL of a service's state.
enum StatusStore {
    /// The largest number that is counted.
    private static let countMax: Int64 = 10_000

    static func status(
        of service: OperatedService,
        on connection: isolated PostgresConnection
    ) throws -> DatabaseStatus {
        var status = DatabaseStatus()
        status.schema =
            try connection.query(
                "SELECT name FROM schema_migrations ORDER BY applied_at DESC, name DESC LIMIT 1"
            ).first?.decode(String.self) ?? ""
        status.outbox = try outbox(on: connection)
        let open = try DeadLetters.count(upTo: countMax, on: connection)
        status.dead = Int(open.dead)
        status.parked = Int(open.parked)
        switch service {
        case .catalog: break
        case .payments:
            status.work["charges"] = try waiting(
                """
                SELECT t.requested_at FROM processor_attempts a
                JOIN transactions t ON t.id = a.transaction_id
                WHERE a.due_at IS NOT NULL AND a.step = 'calling'
                """,
                on: connection
            )
        case .receipts:
            status.work["notifications"] = try waiting(
                "SELECT signed_at FROM notifications WHERE state = 'pending'",
                on: connection
            )
        case .fulfillment:
            status.work["unfinished"] = try waiting(
                """
                SELECT changed_at FROM queue_transactions
                WHERE finished_at IS NULL AND state IN ('purchased', 'restored', 'failed')
                """,
                on: connection
            )
            status.work["webhooks"] = try waiting(
                """
                SELECT queued.changed_at FROM deliveries
                JOIN queue_transactions queued USING (transaction_id)
                WHERE deliveries.state = 'pending' AND kind = 'webhook'
                """,
                on: connection
            )
        }
        return status
    }

    private static func outbox(
        on connection: isolated PostgresConnection
    ) throws -> DatabaseStatus.Waiting {
        guard
            let row = try connection.query("SELECT xid, position FROM relay_place").first
        else { return DatabaseStatus.Waiting(count: 0, isAtLeast: false, oldest: nil) }
        let (xid, position) = try row.decode(UInt64.self, Int64.self)
        let rows = try connection.query(
            """
            SELECT count(*), min(time) FROM (
                SELECT time FROM outbox WHERE (xid, position) > (\(xid), \(position))
                ORDER BY xid, position LIMIT \(countMax + 1)
            ) AS unpublished
            """
        )
        return try decoded(rows)
    }

    private static func waiting(
        _ times: String,
        on connection: isolated PostgresConnection
    ) throws -> DatabaseStatus.Waiting {
        try decoded(
            connection.query(
                """
                SELECT count(*), min(time) FROM (
                    \(unsafe: times) LIMIT \(countMax + 1)
                ) AS waiting (time)
                """
            )
        )
    }

    private static func decoded(_ rows: PostgresRows) throws -> DatabaseStatus.Waiting {
        guard let row = rows.first else {
            return DatabaseStatus.Waiting(count: 0, isAtLeast: false, oldest: nil)
        }
        let (found, oldest) = try row.decode(Int64.self, StoreTime?.self)
        return DatabaseStatus.Waiting(
            count: Int(min(found, countMax)),
            isAtLeast: found > countMax,
            oldest: oldest
        )
    }
}

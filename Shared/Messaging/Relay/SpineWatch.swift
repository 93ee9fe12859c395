import ClockAndIDs
import EventTypes
import Logging
import Metrics
import Postgres
import Seals

/// Measures what waits in a service's spine, every ten seconds: events that are not published, and
/// dead letters.
///
/// Every instance measures the same tables, whoever leads, so that a relay that cannot publish shows
/// too: `max` over the instances is the number. The count ends at ``SpineStore/countMax``, so that a
/// long backlog costs no more to measure than a short one.
struct SpineWatch: Sendable {
    let client: PostgresClient
    let logger: Logger
    var interval: Duration = .seconds(10)

    private let unpublished = Gauge(label: "outbox_unpublished_events")
    private let oldest = Gauge(label: "outbox_oldest_unpublished_seconds")
    private let dead = Gauge(label: "dead_letters", dimensions: [("state", "dead")])
    private let parked = Gauge(label: "dead_letters", dimensions: [("state", "parked")])

    init(client: PostgresClient, logger: Logger) {
        self.client = client
        self.logger = logger
    }

    /// Measures until cancelled.
    func run() async {
        while !Task.isCancelled {
            await measure(at: Timestamp.wallClock())
            try? await Task.sleep(for: interval)  // Cancelled: the loop's condition ends it.
        }
    }

    /// Measures once.
    func measure(at now: Timestamp) async {
        do {
            let waiting = try await client.withConnection { connection in
                try SpineStore.waiting(on: connection)
            }
            unpublished.record(waiting.unpublished)
            oldest.record(
                waiting.oldestUnpublished.map { max(now.duration(since: $0), .zero) / .seconds(1) }
                    ?? 0
            )
            dead.record(waiting.dead)
            parked.record(waiting.parked)
        } catch {
            logger.debug("What waits is not known", metadata: ["error": "\(error)"])
        }
    }
}

/// The SQL of ``SpineWatch``.
enum SpineStore {
    /// Counting ends here.
    static let countMax: Int64 = 10_000

    /// What waits at one moment.
    struct Waiting: Hashable, Sendable {
        /// Committed and not published yet; at most ``SpineStore/countMax``.
        var unpublished: Int64 = 0
        /// When the first of them happened.
        var oldestUnpublished: Timestamp?
        /// Events that could not be applied; at most ``SpineStore/countMax`` with the next.
        var dead: Int64 = 0
        /// Events that wait behind those.
        var parked: Int64 = 0
    }

    /// Counts what waits, by the outbox's index and the index of open dead letters.
    static func waiting(on connection: isolated PostgresConnection) throws -> Waiting {
        var waiting = Waiting()
        let cursor = try RelayStore.progress(on: connection).published
        let rows = try connection.query(
            """
            SELECT count(*), min(time) FROM (
                SELECT time FROM outbox
                WHERE (xid, position) > (\(cursor.xid), \(cursor.position))
                ORDER BY xid, position LIMIT \(countMax)
            ) AS unpublished
            """
        )
        if let row = rows.first {
            (waiting.unpublished, waiting.oldestUnpublished) = try row.decode(
                Int64.self,
                Timestamp?.self
            )
        }
        for row in try connection.query(
            """
            SELECT state, count(*) FROM (
                SELECT state FROM dead_letters WHERE state IN ('dead', 'parked')
                LIMIT \(countMax)
            ) AS open GROUP BY state
            """
        ) {
            let (state, count) = try row.decode(String.self, Int64.self)
            if state == "dead" { waiting.dead = count } else { waiting.parked = count }
        }
        return waiting
    }
}

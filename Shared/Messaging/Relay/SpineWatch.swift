import ClockAndIDs
import EventTypes
import Logging
import Metrics
import Postgres
import Seals

/// Measures, every ten seconds, the backlog in a service's messaging tables: unpublished events and
/// dead letters.
///
/// Every instance measures the same tables, whether it leads or not, so that a relay that cannot
/// publish is noticed too. The `max` over the instances is the true number. Counting stops at
/// ``SpineStore/countMax``, so that a long backlog costs no more to measure than a short one.
struct SpineWatch: Sendable {
    let client: PostgresClient
    let clock: ProcessClock
    let logger: Logger
    var interval: Duration = .seconds(10)

    private let unpublished = Gauge(label: "outbox_unpublished_events")
    private let oldest = Gauge(label: "outbox_oldest_unpublished_seconds")
    private let dead = Gauge(label: "dead_letters", dimensions: [("state", "dead")])
    private let parked = Gauge(label: "dead_letters", dimensions: [("state", "parked")])

    init(client: PostgresClient, clock: ProcessClock, logger: Logger) {
        self.client = client
        self.clock = clock
        self.logger = logger
    }

    /// Measures until cancelled.
    func run() async {
        while !Task.isCancelled {
            await measure(at: clock.now)
            try? await Task.sleep(for: interval)  // If cancelled, the loop ends.
        }
    }

    /// Measures once.
    func measure(at now: StoreTime) async {
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
            logger.debug("Waiting events could not be counted", metadata: ["error": "\(error)"])
        }
    }
}

/// The SQL of ``SpineWatch``.
enum SpineStore {
    /// The number at which counting stops.
    static let countMax: Int64 = 10_000

    /// The backlog at one moment.
    struct Waiting: Hashable, Sendable {
        /// The number of events that are committed but not published; at most
        /// ``SpineStore/countMax``.
        var unpublished: Int64 = 0
        /// The time when the first of them happened.
        var oldestUnpublished: StoreTime?
        /// The number of events that could not be applied; at most ``SpineStore/countMax``.
        var dead: Int64 = 0
        /// The number of events that wait behind those; at most ``SpineStore/countMax``.
        var parked: Int64 = 0
    }

    /// Counts the backlog, using the outbox's index and that of the states of dead letters.
    static func waiting(on connection: isolated PostgresConnection) throws -> Waiting {
        var waiting = Waiting()
        let place = try RelayStore.published(on: connection)
        let rows = try connection.query(
            """
            SELECT count(*), min(time) FROM (
                SELECT time FROM outbox
                WHERE (xid, position) > (\(place.xid), \(place.position))
                ORDER BY xid, position LIMIT \(countMax)
            ) AS unpublished
            """
        )
        if let row = rows.first {
            (waiting.unpublished, waiting.oldestUnpublished) = try row.decode(
                Int64.self,
                StoreTime?.self
            )
        }
        (waiting.dead, waiting.parked) = try DeadLetters.count(upTo: countMax, on: connection)
        return waiting
    }
}

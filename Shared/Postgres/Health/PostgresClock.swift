import Foundation
import Synchronization

/// The database's time, estimated without a query for each use.
///
/// The clock keeps a reading of the server's clock, and adds the time since then by a monotonic
/// clock. The machine's own clock, and any change to it, has no influence. A ``PostgresClient``
/// takes a reading whenever it opens a connection, so before it lends the first one, and every ten to
/// fifteen seconds.
///
/// Safe to use from any task.
public final class PostgresClock: Sendable {
    /// The largest acceptable difference between the clocks.
    ///
    /// A machine whose clock differs more is set wrongly.
    public static let differenceMax = Duration.seconds(30)
    /// The time after which a reading is due to be replaced.
    static let readingInterval = Duration.seconds(10)

    private struct Reading {
        var microseconds: Int64
        var instant: ContinuousClock.Instant
    }

    private let machine: @Sendable () -> PostgresTimestamp
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let reading = Mutex<Reading?>(nil)

    /// Makes a clock without a reading.
    ///
    /// - Parameters:
    ///   - machine: The machine's own clock, which may be wrong.
    ///   - instant: A monotonic clock.
    init(
        machine: @escaping @Sendable () -> PostgresTimestamp,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.machine = machine
        self.instant = instant
    }

    /// The machine's own clock.
    public static let machine: @Sendable () -> PostgresTimestamp = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return PostgresTimestamp(
            microsecondsSinceEpoch: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        )
    }

    /// The database's time; the machine's before the first connection.
    public var now: PostgresTimestamp { known ?? machine() }

    /// The time by which the machine's clock is ahead of the database's, negative if it is behind;
    /// `nil` before the first connection.
    public var difference: Duration? {
        known.map {
            .microseconds(machine().microsecondsSinceEpoch - $0.microsecondsSinceEpoch)
        }
    }

    /// The problem with the machine's clock, in words; `nil` if there is none.
    public var problem: String? {
        guard let difference else { return "the database's time is not known yet" }
        let seconds = Int64((difference / .seconds(1)).rounded())
        guard abs(seconds) > Self.differenceMax.components.seconds else { return nil }
        return "this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") "
            + "the database's; set it"
    }

    /// Whether another reading is due.
    var isDue: Bool {
        let instant = instant()
        return reading.withLock { reading in
            reading.map { instant - $0.instant >= Self.readingInterval } ?? true
        }
    }

    /// Takes a reading, and assumes that it was taken in the middle between question and answer.
    func read(_ ask: () throws -> PostgresTimestamp) rethrows {
        let start = instant()
        let answer = try ask()
        let end = instant()
        reading.withLock {
            $0 = Reading(
                microseconds: answer.microsecondsSinceEpoch,
                instant: start + (end - start) / 2
            )
        }
    }

    /// The database's time; `nil` before the first connection.
    public var known: PostgresTimestamp? {
        let instant = instant()
        return reading.withLock { reading in
            reading.map { reading in
                PostgresTimestamp(
                    microsecondsSinceEpoch: reading.microseconds
                        + Int64((instant - reading.instant) / .microseconds(1))
                )
            }
        }
    }
}

extension PostgresConnection {
    /// Reads the server's clock.
    func read(_ clock: PostgresClock) throws {
        try clock.read {
            let rows = try query("SELECT clock_timestamp()")
            guard let row = rows.first else {
                throw PostgresError(.server, "the server does not say what time it is")
            }
            return try row.decode(PostgresTimestamp.self)
        }
    }
}

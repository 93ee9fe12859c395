import EventTypes
import Logging
import Postgres
import Seals

/// Keeps a partition of the outbox for each month that its rows carry.
///
/// Rows carry store time. The partitions are made at start, in each new month of the store's clock,
/// even if that clock was set, and once an hour for rows of other months, such as those of a clock
/// that was set back. Until then such rows wait in the default partition, where nothing but their
/// archive is missing to them. So it is not urgent: a session that reads the log for long delays it,
/// and never the relay.
struct OutboxPartitions: Sendable {
    private static let interval = Duration.seconds(3600)
    /// The pause after a failure.
    private static let pause = Duration.seconds(10)

    let client: PostgresClient
    let clock: ProcessClock
    let logger: Logger

    /// Makes partitions until cancelled.
    func run() async {
        let machine = ContinuousClock()
        var made: (month: LogMonth, at: ContinuousClock.Instant)?
        while !Task.isCancelled {
            var rest = Duration.seconds(1)
            let month = Self.month(of: clock.now)
            if made?.month != month || made.map({ machine.now - $0.at >= Self.interval }) ?? true {
                do {
                    made = (Self.month(of: try await make()), machine.now)
                } catch {
                    let isBusy = (error as? PostgresError)?.code == .lockTimeout
                    logger.log(
                        level: isBusy ? .debug : .warning,
                        "The partitions of the outbox could not be made yet",
                        metadata: ["error": "\(error)"]
                    )
                    rest = Self.pause
                }
            }
            try? await Task.sleep(for: rest)  // If cancelled, the loop ends.
        }
    }

    private static func month(of time: StoreTime) -> LogMonth {
        LogMonth(microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000)
    }

    /// Makes the partitions that are missing, and returns the store time of this.
    func make() async throws -> StoreTime {
        try await client.withConnection { [clock] connection in
            // After the first connection the database's time is known.
            let time = clock.now
            try RelayStore.ensurePartitions(at: time, on: connection)
            return time
        }
    }
}

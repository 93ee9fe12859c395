import EventTypes
import Logging
import Metrics
import ServiceLifecycle

/// Measures the transactions that apps have yet to finish (spec rule 58), once a minute, and less often if
/// there are many of them.
///
/// An app that forgets to finish gets the same transactions at every launch, for ever. The gauges
/// are for alarms. The log has a warning once a day about transactions older than a week.
struct UnfinishedWatch: Service {
    /// The rest after a measurement, in proportion to its length: it looks at each of these transactions.
    private static let restPerMeasurement = 2000
    /// The longest rest.
    private static let restMax = Duration.seconds(3600)

    let store: UnfinishedStore
    let now: @Sendable () -> StoreTime
    let logger: Logger
    var interval: Duration = .seconds(60)
    /// The age from which an unfinished transaction is worth a warning.
    var patience: Duration = .seconds(7 * 86_400)

    private let count = Gauge(label: "queue_unfinished_transactions")
    private let age = Gauge(label: "queue_oldest_unfinished_seconds")

    init(store: UnfinishedStore, now: @escaping @Sendable () -> StoreTime, logger: Logger) {
        self.store = store
        self.now = now
        self.logger = logger
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var warnedAt: StoreTime?
                while true {
                    let start = ContinuousClock.now
                    warnedAt = await measure(warnedAt: warnedAt)
                    let work = ContinuousClock.now - start
                    try await Task.sleep(for: Self.rest(after: work, interval: interval))
                }
            }
        } catch is CancellationError {
            // The service shuts down.
        }
    }

    /// The rest after a measurement that took some time.
    static func rest(after work: Duration, interval: Duration) -> Duration {
        max(interval, min(work * restPerMeasurement, restMax))
    }

    /// Measures once.
    ///
    /// - Parameter warnedAt: The time of the last warning.
    /// - Returns: The time of the last warning, after this measurement.
    func measure(warnedAt: StoreTime?) async -> StoreTime? {
        do {
            let summary = try await store.summary()
            let now = now()
            let age = summary.oldest.map { max(now.duration(since: $0), .zero) } ?? .zero
            count.record(summary.count)
            self.age.record(age / .seconds(1))
            let isDue = warnedAt.map { now.duration(since: $0) >= .seconds(86_400) } ?? true
            guard age > patience, isDue else { return warnedAt }
            logger.warning(
                "Transactions are not finished",
                metadata: [
                    "unfinished": "\(summary.count)",
                    "oldest.changedAt": "\(now.advanced(by: .zero - age))",
                    "todo":
                        "GET /v1/admin/queue/unfinished lists them; their apps have to finish them",
                ]
            )
            return now
        } catch {
            logger.debug(
                "Unfinished transactions could not be counted",
                metadata: ["error": "\(error)"]
            )
            return warnedAt
        }
    }
}

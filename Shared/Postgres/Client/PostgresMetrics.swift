import Metrics

/// The measurements of one client.
struct PostgresMetrics: Sendable {
    private let client: String
    private let live: Gauge
    private let idle: Gauge
    private let waiting: Gauge
    private let acquireWait: Metrics.Timer
    private let committed: Counter
    private let rolledBack: Counter
    private let retried: Counter

    init(client: String) {
        self.client = client
        let dimensions = [("client", client)]
        live = Gauge(label: "postgres_pool_connections", dimensions: dimensions)
        idle = Gauge(label: "postgres_pool_idle_connections", dimensions: dimensions)
        waiting = Gauge(label: "postgres_pool_waiting", dimensions: dimensions)
        acquireWait = Metrics.Timer(label: "postgres_acquire_wait", dimensions: dimensions)
        func transactions(_ outcome: String) -> Counter {
            Counter(
                label: "postgres_transactions",
                dimensions: dimensions + [("outcome", outcome)]
            )
        }
        committed = transactions("committed")
        rolledBack = transactions("rolled_back")
        retried = transactions("retried")
    }

    func record(live: Int, idle: Int, waiting: Int) {
        self.live.record(live)
        self.idle.record(idle)
        self.waiting.record(waiting)
    }

    func waited(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        acquireWait.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    func transactionCommitted() { committed.increment() }

    func transactionRolledBack() { rolledBack.increment() }

    func transactionRetried() { retried.increment() }

    func failed(_ error: PostgresError) {
        Counter(
            label: "postgres_errors",
            dimensions: [("client", client), ("code", error.code.description)]
        ).increment()
    }
}

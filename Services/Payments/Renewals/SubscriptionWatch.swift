import EventTypes
import Logging
import Metrics
import ServiceLifecycle

/// Measures how many subscriptions run, are not paid, and wait for the store, once a minute.
///
/// The gauges are for dashboards and alarms. All instances measure the same rows. The number of those that run
/// is an estimate if there are many of them.
struct SubscriptionWatch: Service {
    private static let interval = Duration.seconds(60)

    let store: SubscriptionCountStore
    let now: @Sendable () -> StoreTime
    let logger: Logger

    private let active = Gauge(label: "subscriptions", dimensions: [("state", "active")])
    private let grace = Gauge(label: "subscriptions", dimensions: [("state", "grace")])
    private let retry = Gauge(label: "subscriptions", dimensions: [("state", "retry")])
    private let renewalsDue = Gauge(label: "subscription_renewals_due")
    private let late = Gauge(label: "subscription_actions_late")
    private let latest = Gauge(label: "subscription_oldest_late_seconds")

    init(
        store: SubscriptionCountStore,
        now: @escaping @Sendable () -> StoreTime,
        logger: Logger
    ) {
        self.store = store
        self.now = now
        self.logger = logger
    }

    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown {
            try await self.store.waitForSchema()
            while true {
                await measure()
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Measures once.
    private func measure() async {
        let time = now()
        do {
            let counts = try await store.counts(at: time)
            active.record(counts.states[.active] ?? 0)
            grace.record(counts.states[.inGracePeriod] ?? 0)
            retry.record(counts.states[.inBillingRetryPeriod] ?? 0)
            renewalsDue.record(counts.renewalsDue)
            late.record(counts.late)
            let age = counts.oldestLate.map { time.duration(since: $0) } ?? .zero
            latest.record(max(age, .zero) / .seconds(1))
        } catch {
            logger.debug(
                "Subscriptions could not be counted",
                metadata: ["error": "\(error)"]
            )
        }
    }
}

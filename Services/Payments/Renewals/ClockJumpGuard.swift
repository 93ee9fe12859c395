import EventTypes
import Logging
import Metrics
import Synchronization

/// Stops the work that is due for subscriptions while the clock shows a time to which it was set ahead
/// (rule S523).
///
/// Safe to use from any task.
final class ClockJumpGuard: Sendable {
    private struct State {
        var rules = ClockJumpRules()
        var isStopped = false
        /// When to say again that the work is stopped.
        var nextComplaint = Duration.zero
    }

    /// The pause between two complaints.
    private static let complaintInterval = Duration.seconds(60)

    private let passed: @Sendable () -> Duration
    private let logger: Logger
    private let state = Mutex(State())
    private let jumped: Gauge

    /// Makes a guard that has not looked at the clock yet.
    ///
    /// - Parameters:
    ///   - passed: The time that has passed in this process, by a clock that nobody can set.
    ///   - metrics: Makes the gauge that shows whether the work is stopped.
    ///   - logger: Says that the work is stopped, and what to do.
    init(
        passed: @escaping @Sendable () -> Duration = ClockJumpGuard.sinceNow(),
        metrics: any MetricsFactory = MetricsSystem.factory,
        logger: Logger
    ) {
        self.passed = passed
        self.logger = logger
        jumped = Gauge(label: "store_clock_jumped", factory: metrics)
        jumped.record(0)
    }

    /// A measure of the time since this call.
    static func sinceNow() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }

    /// Whether the work is stopped at a time that the clock shows.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - confirmed: The time at which an administrator has said that the clock is right.
    /// - Returns: Whether the clock was set ahead to that time, and nobody has confirmed it.
    func isStopped(at time: StoreTime, confirmed: StoreTime? = nil) -> Bool {
        let passed = passed()
        return state.withLock { state in
            let lead = state.rules.lead(at: time, after: passed, confirmed: confirmed)
            guard let lead else {
                if state.isStopped {
                    logger.notice("The work on subscriptions goes on", metadata: ["now": "\(time)"])
                    jumped.record(0)
                }
                state.isStopped = false
                return false
            }
            if !state.isStopped || passed >= state.nextComplaint {
                complain(lead, at: time)
                state.nextComplaint = passed + Self.complaintInterval
            }
            state.isStopped = true
            return true
        }
    }

    private func complain(_ lead: Duration, at time: StoreTime) {
        jumped.record(1)
        logger.error(
            """
            The database's clock was set ahead, so no subscription is charged or ended. If the clock \
            is wrong, set it. If it is right, run: counterfoil clock resume. Do not restart this \
            service before: one that starts takes the clock as it is
            """,
            metadata: ["now": "\(time)", "ahead_seconds": "\(lead.components.seconds)"]
        )
    }
}

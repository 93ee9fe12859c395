import EventTypes
import Logging
import Metrics
import Stripe
import Synchronization

/// The way of every call to Stripe: it keeps the rate, and stops while Stripe fails.
///
/// A call that may not be made is answered as one that Stripe has not begun with.
final class StripeGate: Sendable {
    private struct State {
        var shares: RateShares
        var breaker = CircuitBreaker()
        /// The end of the pause after Stripe did not take the store's key.
        var refusedUntil = Duration.zero
        /// Whether the last call has shown that Stripe is away.
        var isAway = false
    }

    /// The longest time that a call waits for its turn; after it, its attempt is due later.
    static let patience = Duration.seconds(2)
    /// The pause after Stripe did not take the store's key.
    static let refusalPause = Duration.seconds(30)

    private let state: Mutex<State>
    private let now: @Sendable () -> Duration
    private let logger: Logger
    private let away: Gauge
    /// The reason why no calls are made, as a sentence.
    private let complaint: String

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - account: The account at Stripe, which is named if it is not the default one.
    ///   - rate: The calls a second.
    ///   - endpointRate: The calls a second to one endpoint; `nil` if only `rate` limits them.
    ///   - metrics: Makes the gauge that shows whether Stripe is away.
    ///   - now: The time, since any moment.
    ///   - logger: Receives the failures that a person has to look at.
    init(
        to account: ProcessorAccountName = .default,
        rate: Int,
        endpointRate: Int? = nil,
        metrics: any MetricsFactory = MetricsSystem.factory,
        now: @escaping @Sendable () -> Duration = StripeGate.timeSinceNow(),
        logger: Logger
    ) {
        let shares = RateShares(rate: Double(rate), endpointRate: endpointRate.map { Double($0) })
        state = Mutex(State(shares: shares))
        self.now = now
        self.logger = logger
        let isNamed = account != .default
        away = Gauge(
            label: "processor_away",
            dimensions: isNamed ? [("account", account.rawValue)] : [],
            factory: metrics
        )
        complaint = """
            Stripe does not answer\(isNamed ? " for the account \(account)" : ""), or does not take the \
            store's key; payments wait
            """
    }

    /// The time that has passed since the call.
    static func timeSinceNow() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { start.duration(to: .now) }
    }

    /// Makes a call as soon as it may be made.
    ///
    /// - Parameters:
    ///   - lane: The kind of work.
    ///   - call: The call.
    /// - Returns: What Stripe answers.
    /// - Throws: `StripeFailure`, of the kind `throttled` if the call may not be made now.
    func pass<Answer: Sendable>(
        _ lane: RateShares.Lane,
        _ call: () async throws(StripeFailure) -> Answer
    ) async throws(StripeFailure) -> Answer {
        if let pause = await admit(lane) { throw StripeFailure(.throttled(after: pause)) }
        do {
            let answer = try await call()
            record(nil)
            return answer
        } catch {
            record(error)
            throw error
        }
    }

    /// The reason why no calls are made, as a sentence; `nil` if they are.
    var problem: String? { state.withLock(\.isAway) ? complaint : nil }

    /// Waits for the turn of a call.
    ///
    /// - Returns: `nil` if it may be made, or how long not to ask again.
    private func admit(_ lane: RateShares.Lane) async -> Duration? {
        let begin = now()
        while true {
            let wait = state.withLock { state -> (pause: Duration, isTurn: Bool)? in
                let now = now()
                if now < state.refusedUntil { return (state.refusedUntil - now, false) }
                if let wait = state.shares.take(lane, at: now) { return (wait, true) }
                guard !state.breaker.mayCall(at: now) else { return nil }
                guard case .open(let end, _) = state.breaker.state else {
                    return (.seconds(1), false)
                }
                return (max(end - now, .milliseconds(100)), false)
            }
            guard let wait else { return nil }
            guard wait.isTurn, now() + wait.pause - begin <= Self.patience else {
                return wait.pause
            }
            do { try await Task.sleep(for: wait.pause) } catch { return wait.pause }
        }
    }

    /// Notes what became of a call.
    ///
    /// A key without one permission is refused at some calls only, so it stops none of the others.
    private func record(_ failure: StripeFailure?) {
        let change = state.withLock { state -> Bool? in
            let now = now()
            state.breaker.record(CircuitBreaker.Result(failure), at: now)
            if failure?.kind == .accessRefused, failure?.status == 401 {
                state.refusedUntil = now + Self.refusalPause
            }
            var isAway = now < state.refusedUntil
            if case .closed = state.breaker.state {} else { isAway = true }
            guard isAway != state.isAway else { return nil }
            state.isAway = isAway
            return isAway
        }
        if let isAway = change { tell(isAway) }
        switch failure?.kind {
        case .accessRefused, .mistaken, .keyMisused:
            logger.error(
                "Stripe refuses a call because of a mistake of the store or its settings",
                metadata: ["failure": "\(failure.map { "\($0)" } ?? "")"]
            )
        default: break
        }
    }

    /// Tells that Stripe is away, or there again.
    ///
    /// Readiness only warns of it: without Stripe the other routes work, and so do those that accept
    /// payments.
    private func tell(_ isAway: Bool) {
        away.record(isAway ? Int64(1) : 0)
        if isAway {
            logger.error("\(complaint)")
        } else {
            logger.notice("Stripe answers again")
        }
    }
}

import Logging
import Synchronization

/// A warning of something that happens again and again, logged at most every ten seconds with how
/// often it has happened since.
final class OccasionalWarning: Sendable {
    private struct State {
        var count = 0
        var last: ContinuousClock.Instant?
    }

    private let message: String
    private let interval: Duration
    private let logger: Logger
    private let state = Mutex(State())

    /// Makes a warning.
    ///
    /// - Parameters:
    ///   - message: What is wrong; the same every time.
    ///   - interval: The least time between two lines.
    ///   - logger: Where it is logged.
    init(_ message: String, every interval: Duration = .seconds(10), logger: Logger) {
        self.message = message
        self.interval = interval
        self.logger = logger
    }

    /// Notes that it has happened.
    ///
    /// - Parameters:
    ///   - error: Why.
    ///   - count: To how many.
    ///   - now: The time.
    func warn(of error: any Error, count: Int, at now: ContinuousClock.Instant = .now) {
        let told: Int? = state.withLock { state in
            state.count += count
            if let last = state.last, last.duration(to: now) < interval { return nil }
            state.last = now
            defer { state.count = 0 }
            return state.count
        }
        guard let told else { return }
        logger.warning("\(message)", metadata: ["error": "\(error)", "requests": "\(told)"])
    }
}

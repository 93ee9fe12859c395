import Logging
import Synchronization

/// A warning about a repeated problem, logged at most every ten seconds with the number of
/// occurrences since the last line.
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
    ///   - message: The problem; the same every time.
    ///   - interval: The shortest time between two lines.
    ///   - logger: Receives the warning.
    init(_ message: String, every interval: Duration = .seconds(10), logger: Logger) {
        self.message = message
        self.interval = interval
        self.logger = logger
    }

    /// Notes an occurrence.
    ///
    /// - Parameters:
    ///   - error: The cause.
    ///   - count: The number of occurrences to add.
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

public import Logging
import Synchronization

/// A warning about a repeated problem, logged seldom, with the number of occurrences since the last line.
public final class OccasionalWarning: Sendable {
    private struct State {
        var count = 0
        var last: ContinuousClock.Instant?
    }

    private let message: String
    private let unit: String
    private let interval: Duration
    private let logger: Logger
    private let state = Mutex(State())

    /// Makes a warning.
    ///
    /// - Parameters:
    ///   - message: The problem; the same every time.
    ///   - unit: The name of what is counted.
    ///   - interval: The shortest time between two lines.
    ///   - logger: Receives the warning.
    public init(
        _ message: String,
        counting unit: String = "requests",
        every interval: Duration = .seconds(10),
        logger: Logger
    ) {
        self.message = message
        self.unit = unit
        self.interval = interval
        self.logger = logger
    }

    /// Notes an occurrence.
    ///
    /// - Parameters:
    ///   - error: The cause, if an error is the cause.
    ///   - count: The number of occurrences to add.
    ///   - now: The time.
    public func warn(
        of error: (any Error)? = nil,
        count: Int,
        at now: ContinuousClock.Instant = .now
    ) {
        let told: Int? = state.withLock { state in
            state.count += count
            if let last = state.last, last.duration(to: now) < interval { return nil }
            state.last = now
            defer { state.count = 0 }
            return state.count
        }
        guard let told else { return }
        var metadata: Logger.Metadata = [unit: "\(told)"]
        if let error { metadata["error"] = "\(error)" }
        logger.warning("\(message)", metadata: metadata)
    }
}

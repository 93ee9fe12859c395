import Synchronization

/// Tells when nothing was heard for a while: a network that is gone closes no connection.
final class SilenceWatch: Sendable {
    /// Nothing was heard for too long.
    struct Silence: Error {}

    private let longest: Duration
    private let heardAt = Mutex(ContinuousClock.now)

    init(_ longest: Duration) { self.longest = longest }

    /// Notes that something was heard.
    func reset() { heardAt.withLock { $0 = .now } }

    /// - Throws: ``Silence`` when the time is up, or `CancellationError`.
    func waitForSilence() async throws {
        while true {
            let end = heardAt.withLock { $0 } + longest
            guard end > .now else { throw Silence() }
            try await Task.sleep(until: end)
        }
    }
}

import Synchronization

/// Detects when nothing was received for a while.
///
/// A network failure does not close the connection.
final class SilenceWatch: Sendable {
    /// The error for a silence that lasted too long.
    struct Silence: Error {}

    private let longest: Duration
    private let heardAt = Mutex(ContinuousClock.now)

    init(_ longest: Duration) { self.longest = longest }

    /// Records that something was received.
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

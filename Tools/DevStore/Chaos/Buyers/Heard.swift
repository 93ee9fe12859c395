import Synchronization

/// The last event that a buyer's stream brought, and the time since when the buyer waits for more.
final class Heard: Sendable {
    private let state = Mutex<(id: String?, since: ContinuousClock.Instant?)>((nil, nil))

    var lastEventID: String? { state.withLock { $0.id } }

    /// Records that an event arrived, which the buyer is now handling.
    func hears(_ id: String?) {
        state.withLock { state in
            state.id = id ?? state.id
            state.since = nil
        }
    }

    /// Records that the buyer is waiting for the next event.
    func waits() { state.withLock { $0.since = .now } }

    /// Returns once the buyer has waited in vain for the given time.
    func silence(of length: Duration) async throws {
        while true {
            let since = state.withLock { $0.since }
            if let since, ContinuousClock.now - since > length { return }
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}

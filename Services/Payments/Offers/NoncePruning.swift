import EventTypes
import Synchronization

/// Decides when payments with signed offers delete nonces whose signatures are too old.
///
/// That takes a statement, which not every batch has to pay for. Each time deletes more nonces than can be
/// used between two times, so their number does not grow.
final class NoncePruning: Sendable {
    private struct State {
        /// The last time; `nil` before the first.
        var at: MachineTime?
        /// The nonces that were used since.
        var used = 0
    }

    /// The longest time between two times, if nonces are used.
    static let interval = Duration.seconds(60)
    /// The most nonces that are used between two times, apart from those of one batch.
    static let usesMax = 256

    private let state = Mutex(State())

    /// Counts used nonces.
    ///
    /// - Returns: Whether old nonces are to be deleted now.
    func isDue(after count: Int, at now: MachineTime) -> Bool {
        state.withLock { state in
            state.used += count
            // A clock that was set back does not put it off.
            if let last = state.at, case let age = now.duration(since: last), age >= .zero,
                age < Self.interval, state.used < Self.usesMax
            {
                return false
            }
            state = State(at: now)
            return true
        }
    }
}

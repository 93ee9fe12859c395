import EventTypes
import Synchronization

/// The subscriptions whose due action could not be carried out, which are left alone for a while.
///
/// Otherwise the oldest of them would be at the head of every batch, and hold up all others.
///
/// Safe to use from any task.
final class FailedActions: Sendable {
    /// The time for which a subscription is left alone.
    private static let pause = Duration.seconds(60)

    private let ends = Mutex<[TransactionID: ContinuousClock.Instant]>([:])

    /// Notes that an action could not be carried out.
    func note(_ id: TransactionID, at now: ContinuousClock.Instant = .now) {
        ends.withLock { $0[id] = now + Self.pause }
    }

    /// The subscriptions that are left alone.
    func current(at now: ContinuousClock.Instant = .now) -> Set<TransactionID> {
        ends.withLock { ends in
            if !ends.isEmpty { ends = ends.filter { $0.value > now } }
            return Set(ends.keys)
        }
    }
}

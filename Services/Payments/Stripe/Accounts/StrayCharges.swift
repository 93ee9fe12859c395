import Synchronization

/// The renewals that wait because their buyers were charged by cards that the books have lost.
///
/// Only a person can end the wait. Each instance knows those that it has searched for itself.
final class StrayCharges: Sendable {
    /// The time after which nobody waits here any more unless it was found again: another instance may have
    /// the renewal, or its wait is over.
    private static let memory = Duration.seconds(600)

    private let foundAt = Mutex<[AttemptID: ContinuousClock.Instant]>([:])

    /// Notes that a charge was found.
    ///
    /// - Parameters:
    ///   - id: The attempt that waits because of it.
    ///   - now: The present.
    /// - Returns: Whether it was not known.
    func note(_ id: AttemptID, at now: ContinuousClock.Instant = .now) -> Bool {
        foundAt.withLock { $0.updateValue(now, forKey: id) == nil }
    }

    /// Notes that nothing was found for attempts.
    func end(_ ids: [AttemptID]) {
        foundAt.withLock { foundAt in
            for id in ids { foundAt[id] = nil }
        }
    }

    /// The number of renewals that wait, as a sentence; `nil` if none does.
    func problem(at now: ContinuousClock.Instant = .now) -> String? {
        let count = foundAt.withLock { foundAt in
            foundAt = foundAt.filter { now - $0.value < Self.memory }
            return foundAt.count
        }
        guard count > 0 else { return nil }
        return """
            Renewals wait because Stripe has charges for them by cards that the books have lost; the log \
            names them: \(count)
            """
    }
}

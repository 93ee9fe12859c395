/// The time that a consumer has been waiting for its group to assign partitions to it.
///
/// A group that does not form again after a change of its members stops consumption without an
/// error: each member waits for the others. The consumer therefore tells how long it has waited.
/// A member that is told that it gets no partitions, because there are fewer than members, does not
/// wait.
///
/// Pure.
struct PartitionWait {
    /// The wait that is worth a warning.
    ///
    /// Forming a group takes seconds, or as long as the slowest member works on its batch.
    static let warningMin = Duration.seconds(30)
    /// The time between two warnings.
    static let warningInterval = Duration.seconds(60)

    private var since: ContinuousClock.Instant?
    private var warnAt: ContinuousClock.Instant?
    /// Whether a person was told of this wait.
    private var isTold = false

    /// The news after a poll.
    enum Notice: Hashable {
        /// The consumer still waits, and a person should look.
        case waits
        /// The wait that a person was told of is over.
        case isOver
    }

    /// Notes the state after a poll.
    ///
    /// - Parameters:
    ///   - awaits: Whether the consumer waits for its group.
    ///   - now: The time.
    /// - Returns: The length of the wait, zero if there is none, and what to tell.
    mutating func note(
        _ awaits: Bool,
        at now: ContinuousClock.Instant
    ) -> (length: Duration, notice: Notice?) {
        guard awaits else {
            let wasTold = isTold
            self = PartitionWait()
            return (.zero, wasTold ? .isOver : nil)
        }
        guard let since, let warnAt else {
            (self.since, self.warnAt) = (now, now + Self.warningMin)
            return (.zero, nil)
        }
        guard now >= warnAt else { return (now - since, nil) }
        self.warnAt = now + Self.warningInterval
        isTold = true
        return (now - since, .waits)
    }
}

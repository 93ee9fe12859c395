import EventTypes

/// The limits for calling the processor again.
///
/// Pure.
struct AttemptPolicy: Sendable {
    /// The length of a lease: the time for which a process has an attempt to itself.
    var lease = Duration.seconds(10)
    /// The maximum number of calls for a charge before it fails, and the pauses between them.
    var callsMax = 5
    var pause = Duration.milliseconds(100)
    var pauseMax = Duration.seconds(30)
    /// The longest pause after an inquiry that the processor did not answer, if a quarter of a lease is longer.
    var unansweredMax = Duration.seconds(10)
    /// The shortest and the longest pause between two inquiries about what the processor has begun.
    var poll = Duration.seconds(1)
    var pollMax = Duration.seconds(60 * 60)
    /// The time for which a charge without an outcome is inquired about while the processor is not
    /// certain that nothing was done: longer than any processor keeps a key.
    var doubtMax = Duration.seconds(2 * 24 * 60 * 60)
    /// The time for which a payment waits for a processor that takes no call for it.
    var waitMax = Duration.seconds(24 * 60 * 60)
    /// The time that a buyer has to act.
    var actionExpiry = Duration.seconds(60 * 60)
    /// The time that an approver has to decide.
    var approvalExpiry = Duration.seconds(24 * 60 * 60)

    /// The pause after a number of calls without an outcome.
    func pause(afterCalls calls: Int) -> Duration {
        min(pause * (1 << min(max(calls - 1, 0), 20)), pauseMax)
    }

    /// The pause after an inquiry that the processor did not answer: a tenth of the time since the first call.
    ///
    /// So an attempt goes on soon after a short outage, and a long one costs few inquiries.
    ///
    /// - Parameter age: The time since the first call; `nil` if nobody knows it.
    /// - Returns: The pause.
    func pause(unansweredAfter age: Duration?) -> Duration {
        let longest = min(lease / 4, unansweredMax)
        guard let age else { return max(pause, longest) }
        return max(pause, min(age / 10, longest))
    }

    /// The pause before the next inquiry about what the processor has begun: as long as it has
    /// taken so far.
    func poll(after age: Duration) -> Duration { min(max(age, poll), pollMax) }

    /// Whether the calls of an attempt are used up.
    ///
    /// A charge that the processor has begun is not called again anyway. A committed refund or
    /// reversal is called until it succeeds.
    func isExhausted(_ attempt: ProcessorAttempt) -> Bool {
        attempt.kind == .charge && attempt.step == .calling && attempt.callCount >= callsMax
    }

    /// Decides whether a payment ends because no call could be made for it.
    ///
    /// A buyer who is charged days later has forgotten the payment, or paid elsewhere. A renewal waits
    /// on: its buyer does not wait for it. So does a payment for which a call may have been made.
    ///
    /// - Parameters:
    ///   - attempt: The attempt, which is due.
    ///   - time: The time of now.
    /// - Returns: Whether it ends.
    func givesUp(_ attempt: ProcessorAttempt, at time: MachineTime) -> Bool {
        guard attempt.kind == .charge, !attempt.isRenewal, attempt.isUncalled,
            attempt.callCount == 0, attempt.generation == 1, let since = attempt.callableSince
        else { return false }
        return since.advanced(by: waitMax) <= time
    }

    /// Decides whether an attempt whose calls are used up fails after an inquiry that found nothing.
    ///
    /// While a call may still arrive, the buyer could be charged for a payment that has failed.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - isFinal: Whether nothing will ever be done under its key.
    ///   - time: The time of now.
    /// - Returns: Whether it fails.
    func fails(_ attempt: ProcessorAttempt, isFinal: Bool, at time: MachineTime) -> Bool {
        // An older version of the service may have called first, at a time that nobody knows.
        let end = attempt.firstCalledAt?.advanced(by: doubtMax) ?? time
        return isExhausted(attempt) && (isFinal || end <= time)
    }
}

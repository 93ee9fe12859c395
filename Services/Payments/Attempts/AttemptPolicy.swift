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
    /// The shortest and the longest pause between two inquiries about what the processor has begun.
    var poll = Duration.seconds(1)
    var pollMax = Duration.seconds(60 * 60)
    /// The time that a buyer has to act.
    var actionExpiry = Duration.seconds(60 * 60)
    /// The time that an approver has to decide.
    var approvalExpiry = Duration.seconds(24 * 60 * 60)

    /// The pause after a number of calls without an outcome.
    func pause(afterCalls calls: Int) -> Duration {
        min(pause * (1 << min(max(calls - 1, 0), 20)), pauseMax)
    }

    /// The pause before the next inquiry about what the processor has begun: as long as it has
    /// taken so far.
    func poll(after age: Duration) -> Duration { min(max(age, poll), pollMax) }

    /// Whether an attempt fails after an inquiry that found nothing.
    ///
    /// A charge fails once its calls are used up, unless the processor has begun it. A committed
    /// refund or reversal is called until it succeeds.
    func isExhausted(_ attempt: ProcessorAttempt) -> Bool {
        attempt.kind == .charge && attempt.step == .calling && attempt.callCount >= callsMax
    }
}

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
    /// The time that an approver has to decide.
    var approvalExpiry = Duration.seconds(24 * 60 * 60)

    /// The pause after a number of calls without an outcome.
    func pause(afterCalls calls: Int) -> Duration {
        min(pause * (1 << min(max(calls - 1, 0), 20)), pauseMax)
    }

    /// Whether an attempt fails after an inquiry that found nothing.
    ///
    /// A charge fails once its calls are used up. A committed refund or reversal is called until it
    /// succeeds.
    func isExhausted(_ attempt: ProcessorAttempt) -> Bool {
        attempt.kind == .charge && attempt.callCount >= callsMax
    }
}

/// How often and how long the processor is asked again.
///
/// Pure.
struct AttemptPolicy: Sendable {
    /// How long whoever took an attempt has it for itself.
    var lease = Duration.seconds(10)
    /// How often a charge is called before it fails, and the pause before each next call.
    var callsMax = 5
    var pause = Duration.milliseconds(100)
    var pauseMax = Duration.seconds(30)
    /// How long an approver has.
    var approvalExpiry = Duration.seconds(24 * 60 * 60)

    /// The pause after a number of calls without an outcome.
    func pause(afterCalls calls: Int) -> Duration {
        min(pause * (1 << min(max(calls - 1, 0), 20)), pauseMax)
    }

    /// What an inquiry that found nothing means: a charge is called again until its calls are used
    /// up; a refund that was promised is called for as long as it takes.
    func isExhausted(_ attempt: ProcessorAttempt) -> Bool {
        attempt.kind == .charge && attempt.callCount >= callsMax
    }
}

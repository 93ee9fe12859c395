/// The time that a call to the server still waits, and what may end the wait early.
struct PQPatience {
    /// The time at which the session is given up.
    private(set) var end: ContinuousClock.Instant?
    /// The time at which the server is asked to cancel.
    private(set) var cancelTime: ContinuousClock.Instant?
    /// Whether the interrupter may still end the wait.
    private(set) var isInterruptible: Bool
    /// Whether the server was asked to cancel because the time was up.
    var isOverdue = false

    init(
        end: ContinuousClock.Instant?,
        cancelTime: ContinuousClock.Instant?,
        isInterruptible: Bool
    ) {
        self.end = end
        self.cancelTime = cancelTime
        self.isInterruptible = isInterruptible
    }

    /// Notes that the server was asked to cancel, and waits for its answer until `end`.
    mutating func cancel(until end: ContinuousClock.Instant?) {
        self.end = end
        cancelTime = nil
        isInterruptible = false
    }
}

import EventTypes

/// The reason why the store's clock refuses a command.
enum ClockRefusal: Error, Hashable, Sendable {
    /// The target is not after the present time of the store.
    case movesForward(now: StoreTime)
    /// The target is further away than ``ClockStateMachine/distanceMax``.
    case tooFar
    /// A signing certificate ends before the target.
    case beyondCertificates(end: StoreTime)
    /// The key belongs to an advance by another amount.
    case keyReused
    /// Another advance is on its way.
    case advancing(ClockAdvance)
    /// An advance failed and has to be resumed first.
    case failed(ClockAdvance, reason: String)
    /// No advance is on its way.
    case notAdvancing
    /// No advance failed.
    case notFailed
    /// The clock is not at the target yet.
    case notAtTarget(ClockAdvance)
}

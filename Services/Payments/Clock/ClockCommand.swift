import EventTypes

/// A command to the store's clock.
enum ClockCommand: Hashable, Sendable {
    /// Begins an advance. `earlier` is the advance that was begun under the same key.
    case advance(ClockAdvance.Amount, key: IdempotencyKey, earlier: ClockAdvance?)
    /// Moves the clock of an advance to the time at which something is due next; if nothing is, to
    /// the target.
    case reach(StoreTime?)
    /// Ends the advance: all work that was due until the target has been done.
    case finish
    /// Stops the advance: something that was due could not be done.
    case fail(reason: String)
    /// Resumes an advance that failed.
    case resume
    /// Freezes the clock.
    case freeze
    /// Runs the clock at a rate.
    case run(ClockRate)
}

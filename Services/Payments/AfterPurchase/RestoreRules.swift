import EventTypes

/// The rules for when an account may restore (spec rule 69).
///
/// Pure.
enum RestoreRules {
    /// Tells whether a token is new enough to prove that the buyer is present now.
    ///
    /// - Parameters:
    ///   - issuedAt: The time at which the app issued the token. A token without one (`nil`) is
    ///     never fresh.
    ///   - now: The present time, by the machine's clock.
    ///   - ageMax: The maximum age of the token.
    /// - Returns: Whether the token may be used to restore.
    static func isFresh(issuedAt: MachineTime?, now: MachineTime, ageMax: Duration) -> Bool {
        guard let issuedAt else { return false }
        return now.duration(since: issuedAt) <= ageMax
    }
}

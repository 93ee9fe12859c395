import EventTypes

/// When an account may restore (spec rule 69).
///
/// Pure.
enum RestoreRules {
    /// Whether a token proves that the buyer is there now, and not only that they were some time ago.
    ///
    /// - Parameters:
    ///   - issuedAt: When the app issued it; `nil`, which is never fresh, if it does not say.
    ///   - now: The time, by the machine's clock.
    ///   - ageMax: How old it may be.
    /// - Returns: Whether it restores.
    static func isFresh(issuedAt: Timestamp?, now: Timestamp, ageMax: Duration) -> Bool {
        guard let issuedAt else { return false }
        return now.duration(since: issuedAt) <= ageMax
    }
}

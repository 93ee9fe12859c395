/// Attempts that wait for each other.
///
/// A slow payment method does not hold up those that answer at once, and renewals do not hold up
/// buyers.
enum ChargeLane: Hashable, Sendable, CaseIterable {
    /// Attempts that somebody waits for, with a method that answers at once.
    case prompt
    /// Attempts with a method that takes its time.
    case slow
    /// Charges of renewals, which nobody waits for.
    case renewals
}

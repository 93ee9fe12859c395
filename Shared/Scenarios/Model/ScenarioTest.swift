/// The wishes of a test for an account, instead of earlier ones.
///
/// Those that are `nil` leave the store as it is.
public struct ScenarioTest: Hashable, Sendable, CustomStringConvertible {
    /// The account's name.
    public let account: String
    /// Whether there is a grace period.
    public let hasGracePeriod: Bool?
    /// Whether renewals are declined.
    public let declinesRenewals: Bool?

    /// The wishes in words.
    public var description: String {
        let wishes = [
            hasGracePeriod.map { $0 ? "a grace period" : "no grace period" },
            declinesRenewals.map { $0 ? "renewals are declined" : "renewals are not declined" },
        ].compactMap(\.self)
        let words = wishes.isEmpty ? "nothing" : wishes.joined(separator: ", ")
        return "test with '\(account)': \(words)"
    }
}

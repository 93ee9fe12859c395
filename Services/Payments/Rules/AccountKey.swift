import EventTypes

/// The key of an account: a buyer in an app.
struct AccountKey: Hashable, Sendable, Comparable {
    let accountID: AccountID
    let bundleID: BundleID

    /// Hashes the account alone: few accounts are in several apps.
    func hash(into hasher: inout Hasher) { hasher.combine(accountID) }

    static func < (left: Self, right: Self) -> Bool {
        (left.accountID, left.bundleID) < (right.accountID, right.bundleID)
    }
}

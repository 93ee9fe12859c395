import EventTypes

/// The key of a history: an account in an app.
struct OwnerKey: Hashable, Sendable {
    let account: AccountID
    let bundle: BundleID

    /// Hashes the account alone: few accounts are in several apps.
    func hash(into hasher: inout Hasher) { hasher.combine(account) }
}

extension Transaction {
    /// The account and app that the transaction belongs to.
    var owner: OwnerKey { OwnerKey(account: accountID, bundle: bundleID) }
}

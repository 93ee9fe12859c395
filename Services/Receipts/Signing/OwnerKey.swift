import EventTypes

/// The key of a history: an account in an app.
struct OwnerKey: Hashable, Sendable {
    let account: AccountID
    let bundle: BundleID
}

extension Transaction {
    /// The account and app that the transaction belongs to.
    var owner: OwnerKey { OwnerKey(account: accountID, bundle: bundleID) }
}

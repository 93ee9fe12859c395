import EventTypes

/// An account in an app, to which a history belongs.
struct OwnerKey: Hashable, Sendable {
    let account: AccountID
    let bundle: BundleID
}

extension Transaction {
    /// The account in the app that it belongs to.
    var owner: OwnerKey { OwnerKey(account: accountID, bundle: bundleID) }
}

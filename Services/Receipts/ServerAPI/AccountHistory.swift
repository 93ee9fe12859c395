import EventTypes

/// An account in an app, to which a history belongs.
struct OwnerKey: Hashable, Sendable {
    let account: AccountID
    let bundle: BundleID
}

/// What an account's history gives the transactions that change.
struct AccountHistory: Hashable, Sendable {
    /// The account's app transaction.
    let appTransactionID: Int64
    /// The position before the first change; each change takes the next.
    let position: Int64

    /// The first number of an app transaction; transactions' own never come so far.
    static let firstAppTransactionID: Int64 = 700_000_000_000_000_001
}

/// What `receipts` itself knows of a transaction, beside what its events say.
struct SigningContext: Hashable, Sendable {
    /// The app transaction of the account in the app.
    var appTransactionID: Int64?
    /// The account token that a merchant's server has set, which takes the place of the app's.
    var appAccountToken: String?
    /// Where the transaction goes in its account's history.
    var historyPosition: Int64 = 0
}

extension Transaction {
    /// The account in the app that it belongs to.
    var owner: OwnerKey { OwnerKey(account: accountID, bundle: bundleID) }
}

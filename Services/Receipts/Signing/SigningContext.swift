/// What `receipts` itself knows of a transaction, beside what its events say.
struct SigningContext: Hashable, Sendable {
    /// The app transaction of the account in the app.
    var appTransactionID: Int64?
    /// The account token that a merchant's server has set, which takes the place of the app's.
    var appAccountToken: String?
    /// Where the transaction goes in its account's history.
    var historyPosition: Int64 = 0
}

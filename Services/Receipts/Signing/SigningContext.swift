/// The data that `receipts` itself has on a transaction, besides its events.
struct SigningContext: Hashable, Sendable {
    /// The app transaction of the account in the app.
    var appTransactionID: Int64?
    /// The account token that a merchant's server has set.
    ///
    /// It replaces the app's.
    var appAccountToken: String?
    /// Whether an upgrade has ended the period of the transaction (rule S101).
    var isUpgraded = false
    /// The transaction's position in its account's history.
    var historyPosition: Int64 = 0
}

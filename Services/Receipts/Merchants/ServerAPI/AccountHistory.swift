/// The values that an account's history gives to changed transactions.
struct AccountHistory: Hashable, Sendable {
    /// The account's app transaction.
    let appTransactionID: Int64
    /// The position before the first change; each change takes the next.
    let position: Int64

    /// The first number of an app transaction.
    ///
    /// Numbers of transactions never get that high.
    static let firstAppTransactionID: Int64 = 700_000_000_000_000_001
}

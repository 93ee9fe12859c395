/// A movement of the account's balance, against which the ledger is compared.
package struct StripeBalanceTransaction: Hashable, Sendable, Decodable {
    /// The id, `txn_…`.
    package var id: String
    /// The kind: `charge`, `refund`, `adjustment`, `refund_failure`, `payout`, ….
    package var type: String
    /// The amount before fees, in the unit of the settlement's currency; it may be negative.
    package var amount: Int64
    /// The fees.
    package var fee: Int64
    /// The amount after fees.
    package var net: Int64
    /// The settlement's currency in lower case.
    package var currency: String
    /// The time, in seconds since 1970.
    package var created: Int64
    /// The charge, refund or dispute that caused it.
    package var source: StripeReference?
}

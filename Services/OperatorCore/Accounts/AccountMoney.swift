package import EventTypes

/// The money of some purchases, as `payments` has it.
package struct AccountMoney: Hashable, Sendable {
    /// The terms of a purchase, and what was given back of it.
    package struct Purchase: Hashable, Sendable {
        /// The number of units.
        package let quantity: Int
        /// The price of all units.
        package let price: Money
        /// The time of the purchase, or of the request if nothing was bought.
        package let time: StoreTime
        /// The amount that was given back and not returned to the store.
        package let givenBack: Money
    }

    /// The purchases that `payments` knows.
    package let purchases: [TransactionID: Purchase]
    /// All postings of these purchases, added up by currency and account of the ledger.
    package let sums: [Story.Posting.Entry]
}

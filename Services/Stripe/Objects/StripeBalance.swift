/// The money that Stripe has of the account.
package struct StripeBalance: Hashable, Sendable, Decodable {
    /// The money in one currency.
    package struct Part: Hashable, Sendable, Decodable {
        /// The amount in Stripe's unit; negative if the account owes it.
        package var amount: Int64
        /// The currency in lower case.
        package var currency: String
    }

    /// The money that can be paid out.
    package var available: [Part]
    /// The money that can be paid out later.
    package var pending: [Part]

    /// The sums of both, by currency.
    package var totals: [ProcessorAmount] {
        let sums = (available + pending).reduce(into: [String: Int64]()) {
            $0[$1.currency, default: 0] += $1.amount
        }
        return sums.sorted { $0.key < $1.key }
            .map { ProcessorAmount(wire: $0.value, currency: $0.key) }
    }
}

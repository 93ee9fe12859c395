/// A movement of the account's balance, against which the books are compared.
package struct StripeBalanceTransaction: Hashable, Sendable, Decodable {
    /// The id, `txn_…`.
    package var id: String
    /// The kind: `charge`, `refund`, `adjustment`, `refund_failure`, `payout`, ….
    package var type: String
    /// The amount before fees, in the unit of the settlement's currency; it may be negative.
    package var amount: Int64
    /// The fees; negative if Stripe gives one back.
    package var fee: Int64
    /// The amount after fees.
    package var net: Int64
    /// The settlement's currency in lower case.
    package var currency: String
    /// The time, in seconds since 1970.
    package var created: Int64
    /// The charge, refund, dispute or payout that caused it.
    package var source: Source?

    /// The object that caused a movement.
    ///
    /// Its amount is in the currency of the price, which may be another one than the settlement's.
    package struct Source: Hashable, Sendable {
        /// The id.
        package var id: String
        /// The amount, in Stripe's unit; `nil` if the object is named only, or has none.
        package var amount: Int64?
        /// The currency in lower case.
        package var currency: String?
        /// The payment that it belongs to.
        package var paymentIntent: StripeReference?
        /// The texts that the store gave it; `attempt` says whose it is.
        package var metadata: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case id, amount, currency, metadata
            case paymentIntent = "payment_intent"
        }
    }
}

extension StripeBalanceTransaction.Source: Decodable {
    /// Reads the object, or only its id if it was not expanded.
    package init(from decoder: any Decoder) throws {
        if let id = try? decoder.singleValueContainer().decode(String.self) {
            self.init(id: id)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            amount: try container.decodeIfPresent(Int64.self, forKey: .amount),
            currency: try container.decodeIfPresent(String.self, forKey: .currency),
            paymentIntent: try container.decodeIfPresent(
                StripeReference.self,
                forKey: .paymentIntent
            ),
            metadata: try container.decodeIfPresent([String: String].self, forKey: .metadata)
        )
    }
}

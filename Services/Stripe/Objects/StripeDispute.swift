/// A charge that the buyer disputes at their bank.
package struct StripeDispute: Hashable, Sendable, Decodable {
    /// The id, `dp_…` or `du_…`.
    package var id: String
    /// The state, such as `warning_needs_response`, `needs_response`, `won` or `lost`.
    package var status: String
    /// The reason that the buyer gave, such as `fraudulent`.
    package var reason: String?
    /// The disputed amount, in Stripe's unit of the charge's currency.
    package var amount: Int64
    /// The charge's currency in lower case.
    package var currency: String
    /// The time, in seconds since 1970.
    package var created: Int64
    /// The payment that is disputed.
    package var paymentIntent: Payment?
    /// The movements by which Stripe withdrew the money, and brought it back.
    package var movements: [Movement]
    /// The state of the store's answer.
    package var evidence: Evidence?

    /// The payment that is disputed, with its texts.
    package struct Payment: Hashable, Sendable, Decodable {
        /// The id.
        package var id: String
        /// The texts that the store gave it; `attempt` says whose it is.
        package var metadata: [String: String]?
    }

    /// A movement of the balance.
    package struct Movement: Hashable, Sendable, Decodable {
        /// The amount before fees, in the unit of the settlement's currency.
        package var amount: Int64
    }

    /// The state of the store's answer, as far as it is read.
    package struct Evidence: Hashable, Sendable, Decodable {
        /// The time by which it is due, in seconds since 1970.
        package var dueBy: Int64?

        private enum CodingKeys: String, CodingKey {
            case dueBy = "due_by"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, status, reason, amount, currency, created
        case paymentIntent = "payment_intent"
        case movements = "balance_transactions"
        case evidence = "evidence_details"
    }
}

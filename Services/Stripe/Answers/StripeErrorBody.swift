package import EventTypes

/// The error of an answer, as Stripe's API describes it.
///
/// Its message is left out: it may quote a parameter, and programs decide by the codes.
package struct StripeErrorBody: Hashable, Sendable, Decodable {
    /// The class of the error: `card_error`, `invalid_request_error`, `idempotency_error`, ….
    package var type: String?
    /// The code: `card_declined`, `resource_missing`, `lock_timeout`, ….
    package var code: String?
    /// The reason that the card's issuer gave.
    package var declineCode: String?
    /// The issuer's advice, of newer versions of the API.
    package var adviceCode: String?
    /// The parameter that the error is about.
    package var parameter: String?
    /// The payment that the error belongs to.
    package var paymentIntent: Reference?

    /// An object within an error, of which only this much is needed.
    package struct Reference: Hashable, Sendable, Decodable {
        /// The id.
        package var id: String
        /// The state.
        package var status: String?
    }

    /// The reason of a decline, with the advice after it.
    package var decline: (reason: FailureReason, advice: DeclineAdvice) {
        let reason: FailureReason =
            switch declineCode {
            case "insufficient_funds", "withdrawal_count_limit_exceeded": .insufficientFunds
            default: .paymentDeclined
            }
        return (reason, DeclineAdvice(self))
    }

    enum CodingKeys: String, CodingKey {
        case type, code
        case declineCode = "decline_code"
        case adviceCode = "advice_code"
        case parameter = "param"
        case paymentIntent = "payment_intent"
    }
}

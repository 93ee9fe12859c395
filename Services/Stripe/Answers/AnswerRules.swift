import EventTypes

/// The meaning of an answer of Stripe's API.
///
/// The rules are ordered by what they protect. A charge that may have happened must never be taken
/// for one that has not. And a buyer must not be told of a decline that was a mistake of the store.
enum AnswerRules {
    /// The parts of an answer that its meaning depends on.
    struct Head: Hashable, Sendable {
        var status: Int
        var requestID: String?
        /// The header `Stripe-Should-Retry`.
        var shouldRetry: Bool?
        /// The header `Retry-After`.
        var retryAfter: Duration?
        /// The header `Idempotent-Replayed`.
        var isReplayed = false
    }

    /// Returns the meaning of an answer; `nil` if Stripe did what was asked.
    static func failure(_ head: Head, _ error: StripeErrorBody?) -> StripeFailure? {
        guard !(200..<300).contains(head.status) else { return nil }
        return StripeFailure(
            kind(head, error),
            status: head.status,
            error: error,
            requestID: head.requestID,
            isReplayed: head.isReplayed
        )
    }

    private static func kind(_ head: Head, _ error: StripeErrorBody?) -> StripeFailure.Kind {
        // Proxies answer 5xx too, so nothing is known about what Stripe did.
        if head.status >= 500 { return .unknown }
        // The limit of requests, a lock that was not free in time, and a key in use. None of them
        // is a result: the call has not begun, or another one under its key is under way. They are
        // no misuse of the key, whatever type of error Stripe gives them.
        if head.status == 429 || error?.code == "lock_timeout"
            || head.status == 409 && error?.code == "idempotency_key_in_use"
        {
            return .throttled(after: head.retryAfter)
        }
        if error?.type == "idempotency_error" { return .keyMisused }
        if head.status == 409 { return .throttled(after: head.retryAfter) }
        if let error, error.type == "card_error" {
            return .declined(error.decline.reason, error.decline.advice)
        }
        if head.shouldRetry == true { return .throttled(after: head.retryAfter) }
        switch (head.status, error?.code) {
        // Without a card error nobody knows who refused to pay, and it may be a proxy's answer.
        case (402, _): return .unknown
        case (401, _), (403, _): return .accessRefused
        case (400..<500, _) where refusesTheMethod(error):
            return .declined(.paymentDeclined, .otherMethod)
        case (_, "resource_missing"?): return .missing
        case (_, let code?) where statesThatForbid.contains(code): return .stateForbids
        case (404, _): return .missing
        case (400..<500, _): return .mistaken
        // A redirect, or a status of a proxy: Stripe answers none of them.
        default: return .unknown
        }
    }

    /// Whether Stripe refuses the payment method itself: it is unknown, used up, or another buyer's.
    ///
    /// The buyer must choose another one. A method that the store did not send, or sent to a call
    /// that takes none, is still a mistake of the store.
    private static func refusesTheMethod(_ error: StripeErrorBody?) -> Bool {
        guard let error, error.type == "invalid_request_error",
            error.parameter == "payment_method"
        else { return false }
        guard let code = error.code else { return true }
        return code != "parameter_missing" && code != "parameter_unknown"
            && !statesThatForbid.contains(code)
    }

    private static let statesThatForbid: Set<String> = [
        "charge_already_refunded", "charge_disputed", "payment_intent_unexpected_state",
        "setup_intent_unexpected_state", "refund_disputed_payment",
    ]
}

import HTTPTypes
import ServiceKit

extension HTTPProblem {
    /// The transaction does not exist or belongs to another account or app; the answer is the same
    /// for both.
    static let transactionUnknown = HTTPProblem(
        .notFound,
        code: "transaction_unknown",
        title: "The transaction is unknown",
        detail: "There is no such transaction."
    )

    /// No buyer has to act, or not any more.
    static let noActionNeeded = HTTPProblem(
        .notFound,
        code: "no_action_needed",
        title: "Nobody has to act",
        detail: "The buyer has nothing to confirm. Read the transaction to see its state."
    )

    /// The transaction has no refund of this number.
    static let refundUnknown = HTTPProblem(
        .notFound,
        code: "refund_unknown",
        title: "The refund is unknown",
        detail: "The transaction has no refund of this number. Its field refunds lists them all."
    )

    /// A restore needs a token that the app has just issued (spec rule 69).
    static func freshAuthenticationRequired(ageMax: Duration) -> HTTPProblem {
        HTTPProblem(
            .unauthorized,
            code: "fresh_authentication_required",
            title: "Restoring needs a new token",
            detail: """
                The token was issued more than \(ageMax.components.seconds) seconds ago, or does not \
                say when (iat). Ask the buyer who they are, sign a new token, and restore with it.
                """
        )
    }

    /// A card's number must not come to the store.
    ///
    /// The answer does not repeat it.
    static let cardNumberRefused = badRequest(
        "card_number_refused",
        "The request contains a card number",
        "Give cards to the processor itself, and name the payment method that it saved."
    )

    /// An idempotency key that looks like a card's number.
    ///
    /// A random key of hexadecimal digits may have none but decimal ones. A UUID never looks like a card.
    static let cardNumberInKey = badRequest(
        "card_number_refused",
        "The idempotency key looks like the number of a card",
        "Use a key that does not, such as a UUID. Nothing was done under this one."
    )

    static let idempotencyKeyReused = HTTPProblem(
        .unprocessableContent,
        code: "idempotency_key_reused",
        title: "The idempotency key was used for another request",
        detail: "Use a new key for a new request, and the same key only to repeat a request."
    )

    static let idempotencyKeyMissing = badRequest(
        "idempotency_key_missing",
        "The request has no idempotency key",
        "Send a header Idempotency-Key with a value of your choice, the same when you repeat."
    )

    static let idempotencyKeyMalformed = badRequest(
        "idempotency_key_malformed",
        "The idempotency key is malformed",
        "The header Idempotency-Key has 1 to 255 visible ASCII characters."
    )

    /// A parameter of the query is missing or malformed.
    static func queryInvalid(_ detail: String) -> HTTPProblem {
        badRequest("query_invalid", "The query is invalid", detail)
    }

    static func badRequest(_ code: String, _ title: String, _ detail: String) -> HTTPProblem {
        HTTPProblem(.badRequest, code: code, title: title, detail: detail)
    }
}

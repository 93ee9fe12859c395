import EventTypes
import HTTPTypes
import ServiceKit
import StoreAPI

extension PaymentRefusal {
    /// The refusal as HTTP says it.
    var problem: HTTPProblem {
        switch self {
        case .productUnknown:
            .badRequest(
                "product_unknown",
                "The product is unknown",
                "The store has no product of this id. Ask the catalog for its products."
            )
        case .productUnavailable:
            .badRequest(
                "product_unavailable",
                "The product is not for sale",
                "The product is off sale, or is not sold in this storefront."
            )
        case .productTypeNotSoldYet(let product):
            HTTPProblem(
                .unprocessableContent,
                code: "product_type_not_sold_yet",
                title: "Products of this type are not sold yet",
                detail: """
                    \(product) is an auto-renewable subscription, and these are not sold yet. \
                    Do not offer it; sell a non-renewing subscription instead.
                    """
            )
        case .quantityOutOfRange(let max):
            .badRequest(
                "quantity_out_of_range",
                "The quantity is out of range",
                "The quantity of this product is from 1 to \(max)."
            )
        case .wrongCurrency(let expected):
            .badRequest(
                "wrong_currency",
                "The currency is wrong",
                "The product is sold in \(expected) in this storefront."
            )
        case .stalePrice(let current):
            HTTPProblem(
                .conflict,
                code: "stale_price",
                title: "The price has changed",
                detail: "One costs \(current). Show it to the buyer and ask again.",
                currentPrice: current
            )
        case .priceOverflow:
            .badRequest(
                "price_overflow",
                "The price is too large",
                "The price times the quantity is more than an amount can hold."
            )
        case .paymentMethodUnknown:
            .badRequest(
                "payment_method_unknown",
                "The payment method is unknown",
                "The payment processor has no such payment method."
            )
        case .paymentMethodNotAvailable(let method):
            HTTPProblem(
                .unprocessableContent,
                code: "payment_method_not_available",
                title: "The payment method is not available",
                detail: Self.detail(ofMissingMethod: method)
            )
        case .applicationUsernameTooLong(let max):
            .badRequest(
                "application_username_too_long",
                "The application username is too long",
                "The application username has at most \(max) code points."
            )
        case .idempotencyKeyReused:
            .idempotencyKeyReused
        case .paymentsNotAllowed:
            HTTPProblem(
                .forbidden,
                code: "payments_not_allowed",
                title: "The account may not pay",
                detail: "The store has blocked payments of this account in this app."
            )
        case .storefrontChanged(let current):
            HTTPProblem(
                .conflict,
                code: "storefront_changed",
                title: "The storefront has changed",
                detail: "The account buys in \(current). Show the prices there and ask again.",
                currentStorefront: current
            )
        case .purchaseIntentUnknown:
            HTTPProblem(
                .conflict,
                code: "purchase_intent_unknown",
                title: "The purchase intent is unknown",
                detail: "The account has no open purchase intent of this id, product and quantity."
            )
        }
    }
}

extension PaymentRefusal {
    /// Why a method is not available, and what to do.
    private static func detail(ofMissingMethod method: String?) -> String {
        guard let method else {
            return "The request names no payment method, and this store has none to fall back on."
        }
        guard SandboxPaymentMethod(rawValue: method) != nil else {
            return "This store has no payment processor, so that nothing can be charged."
        }
        return """
            \(method) moves no money and exists only in a store whose STORE_ENVIRONMENT is Sandbox. \
            This one has no payment processor, so that nothing can be charged.
            """
    }
}

extension TransactionRefusal {
    /// The refusal as HTTP says it.
    func problem(of transaction: Transaction) -> HTTPProblem {
        let detail = "The transaction is \(transaction.state), which this does not fit."
        switch self {
        case .notPurchased:
            return HTTPProblem(
                .conflict,
                code: "not_purchased",
                title: "Only a purchase can be refunded",
                detail: detail
            )
        case .decidedOtherwise:
            return HTTPProblem(
                .conflict,
                code: "decided_otherwise",
                title: "The approver has said the opposite",
                detail: "The first word on an approval counts; it cannot be taken back."
            )
        case .notDeferred:
            return HTTPProblem(
                .conflict,
                code: "not_deferred",
                title: "The transaction waits for no approval",
                detail: detail
            )
        case .notInterrupted:
            return HTTPProblem(
                .conflict,
                code: "not_interrupted",
                title: "Only an interrupted payment is taken up again",
                detail: detail
            )
        case .ended, .chargeIsStray, .stateUnknown:
            return HTTPProblem(
                .conflict,
                code: "transaction_ended",
                title: "The transaction has ended otherwise",
                detail: detail
            )
        }
    }
}

extension HTTPProblem {
    /// No such transaction, or not one of this account and app; the two are not told apart.
    static let transactionUnknown = HTTPProblem(
        .notFound,
        code: "transaction_unknown",
        title: "The transaction is unknown",
        detail: "There is no such transaction."
    )

    /// Restoring asks for a token that the app has issued just now (spec rule 69).
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

    static func badRequest(_ code: String, _ title: String, _ detail: String) -> HTTPProblem {
        HTTPProblem(.badRequest, code: code, title: title, detail: detail)
    }
}

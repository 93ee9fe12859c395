import EventTypes
import HTTPTypes
import ServiceKit
import StoreAPI

extension PaymentRefusal {
    /// The HTTP problem of the refusal.
    var problem: HTTPProblem {
        switch self {
        case .productUnknown: refusal(.badRequest, "product_unknown")
        case .productUnavailable: refusal(.badRequest, "product_unavailable")
        case .productTypeNotSoldYet:
            refusal(.unprocessableContent, "product_type_not_sold_yet")
        case .quantityOutOfRange: refusal(.badRequest, "quantity_out_of_range")
        case .wrongCurrency: refusal(.badRequest, "wrong_currency")
        case .stalePrice(let current): refusal(.conflict, "stale_price", price: current)
        case .priceOverflow: refusal(.badRequest, "price_overflow")
        case .paymentMethodUnknown: refusal(.badRequest, "payment_method_unknown")
        case .paymentMethodNotAvailable:
            refusal(.unprocessableContent, "payment_method_not_available")
        case .applicationUsernameTooLong: refusal(.badRequest, "application_username_too_long")
        case .idempotencyKeyReused: .idempotencyKeyReused
        case .paymentsNotAllowed: refusal(.forbidden, "payments_not_allowed")
        case .storefrontChanged(let current):
            refusal(.conflict, "storefront_changed", storefront: current)
        case .alreadySubscribed: refusal(.conflict, "already_subscribed")
        case .purchaseIntentUnknown: refusal(.conflict, "purchase_intent_unknown")
        }
    }

    private func refusal(
        _ status: HTTPResponse.Status,
        _ code: String,
        price: Money? = nil,
        storefront: Storefront? = nil
    ) -> HTTPProblem {
        HTTPProblem(
            status,
            code: code,
            title: words.title,
            detail: words.detail,
            currentPrice: price,
            currentStorefront: storefront
        )
    }

    /// The sentences for people.
    private var words: (title: String, detail: String) {
        switch self {
        case .productUnknown:
            (
                "The product is unknown",
                "The store has no product of this id. Ask the catalog for its products."
            )
        case .productUnavailable:
            (
                "The product is not for sale",
                "The product is off sale, or is not sold in this storefront."
            )
        case .productTypeNotSoldYet(let product):
            (
                "The product cannot be sold yet",
                """
                \(product) is an auto-renewable subscription without a group and a period. \
                Set both in the catalog.
                """
            )
        case .quantityOutOfRange(let max):
            (
                "The quantity is out of range",
                "The quantity of this product is from 1 to \(max)."
            )
        case .wrongCurrency(let expected):
            (
                "The currency is wrong",
                "The product is sold in \(expected) in this storefront."
            )
        case .stalePrice(let current):
            (
                "The price has changed",
                "One costs \(current). Show it to the buyer and ask again."
            )
        case .priceOverflow:
            (
                "The price is too large",
                "The price times the quantity is more than an amount can hold."
            )
        case .paymentMethodUnknown:
            (
                "The payment method is unknown",
                "The payment processor has no such payment method."
            )
        case .paymentMethodNotAvailable(let method):
            (
                "The payment method is not available",
                Self.detail(ofMissingMethod: method)
            )
        case .applicationUsernameTooLong(let max):
            (
                "The application username is too long",
                "The application username has at most \(max) code points."
            )
        case .paymentsNotAllowed:
            (
                "The account may not pay",
                "The store has blocked payments of this account in this app."
            )
        case .storefrontChanged(let current):
            (
                "The storefront has changed",
                "The account buys in \(current). Show the prices there and ask again."
            )
        case .alreadySubscribed(let product):
            (
                "The account has a subscription of this group",
                """
                \(product) is running. Only a product of a higher level, or one of the same level \
                and length, replaces it at once.
                """
            )
        case .purchaseIntentUnknown:
            (
                "The purchase intent is unknown",
                "The account has no open purchase intent of this id, product and quantity."
            )
        case .idempotencyKeyReused:
            // The same as of every request with a key.
            (
                HTTPProblem.idempotencyKeyReused.problem.title,
                HTTPProblem.idempotencyKeyReused.problem.detail
            )
        }
    }
}

extension PaymentRefusal {
    /// Explains why a method is not available, and what to do.
    private static func detail(ofMissingMethod method: PaymentMethod?) -> String {
        guard let method else {
            return "The request names no payment method, and this store has none to fall back on."
        }
        guard SandboxPaymentMethod(method) != nil else {
            return "This store has no payment processor, so that nothing can be charged."
        }
        return """
            \(method) moves no money and exists only in a store whose STORE_ENVIRONMENT is Sandbox. \
            This one has no payment processor, so that nothing can be charged.
            """
    }
}

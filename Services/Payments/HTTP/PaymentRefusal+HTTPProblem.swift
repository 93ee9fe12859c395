import EventTypes
import HTTPTypes
import ServiceKit
import StoreAPI

extension PaymentRefusal {
    /// The HTTP problem of the refusal.
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
    /// Explains why a method is not available, and what to do.
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

import EventTypes
import HTTPTypes
import ServiceKit
import StoreAPI

extension PaymentRefusal {
    /// The HTTP problem of the refusal.
    var problem: HTTPProblem {
        switch self {
        case .productUnknown: .productUnknown
        case .productUnavailable: .productUnavailable
        case .productTypeNotSoldYet(let product): .productTypeNotSoldYet(product)
        case .quantityOutOfRange(let max): .quantityOutOfRange(max: max)
        case .wrongCurrency(let expected): .wrongCurrency(expected: expected)
        case .stalePrice(let current): .stalePrice(current: current)
        case .offerNotAvailable: .offerNotAvailable
        case .staleOffer(let current): .staleOffer(current: current)
        case .offerUnknown, .offerIncomplete, .offerKeyUnknown, .offerSignatureInvalid,
            .offerExpired, .offerNonceUsed, .offerPriceInvalid, .offersContradict:
            signedOfferProblem
        case .codeUnknown, .codeExpired, .codeUsed, .codeRedeemedBefore, .codeNotForCustomer,
            .codeOfferEnded:
            codeProblem
        case .priceOverflow: .priceOverflow
        case .paymentMethodUnknown: .paymentMethodUnknown
        case .paymentMethodNotAvailable(let method): .paymentMethodNotAvailable(method)
        case .applicationUsernameTooLong(let max): .applicationUsernameTooLong(max: max)
        case .idempotencyKeyReused: .idempotencyKeyReused
        case .paymentsNotAllowed: .paymentsNotAllowed
        case .storefrontChanged(let current): .storefrontChanged(current: current)
        case .alreadySubscribed(let product): .alreadySubscribed(to: product)
        case .purchaseIntentUnknown: .purchaseIntentUnknown
        }
    }
}

// Refusals because of the product, or of its price.
extension HTTPProblem {
    fileprivate static let productUnknown = HTTPProblem(
        .badRequest,
        code: "product_unknown",
        title: "The product is unknown",
        detail: "The store has no product of this id. Ask the catalog for its products."
    )

    fileprivate static let productUnavailable = HTTPProblem(
        .badRequest,
        code: "product_unavailable",
        title: "The product is not for sale",
        detail: "The product is off sale, or is not sold in this storefront."
    )

    fileprivate static func productTypeNotSoldYet(_ product: ProductID) -> HTTPProblem {
        HTTPProblem(
            .unprocessableContent,
            code: "product_type_not_sold_yet",
            title: "The product cannot be sold yet",
            detail: """
                \(product) is an auto-renewable subscription without a group and a period. \
                Set both in the catalog.
                """
        )
    }

    fileprivate static func quantityOutOfRange(max: Int) -> HTTPProblem {
        HTTPProblem(
            .badRequest,
            code: "quantity_out_of_range",
            title: "The quantity is out of range",
            detail: "The quantity of this product is from 1 to \(max)."
        )
    }

    fileprivate static func wrongCurrency(expected: Currency) -> HTTPProblem {
        HTTPProblem(
            .badRequest,
            code: "wrong_currency",
            title: "The currency is wrong",
            detail: "The product is sold in \(expected) in this storefront."
        )
    }

    fileprivate static func stalePrice(current: Money) -> HTTPProblem {
        HTTPProblem(
            .conflict,
            code: "stale_price",
            title: "The price has changed",
            detail: "One costs \(current) now. Show the buyer this price, then pay with it.",
            currentPrice: current
        )
    }

    fileprivate static let offerNotAvailable = HTTPProblem(
        .conflict,
        code: "offer_not_available",
        title: "The account may not have the offer",
        detail: """
            The account has had the offer, or the product does not have it any more. Show the \
            ordinary price to the buyer, then pay without the offer.
            """
    )

    fileprivate static func staleOffer(current: OfferListing) -> HTTPProblem {
        HTTPProblem(
            .conflict,
            code: "stale_offer",
            title: "The offer has changed",
            detail: """
                It is \(current.mode): \(current.numberOfPeriods) times \(current.period) for \
                \(current.price) each. Show it to the buyer, then pay with these terms.
                """
        )
    }

    fileprivate static let priceOverflow = HTTPProblem(
        .badRequest,
        code: "price_overflow",
        title: "The price is too large",
        detail: "The price times the quantity is more than an amount can hold."
    )
}

// Refusals because of the payment method, or of the account.
extension HTTPProblem {
    static let paymentMethodUnknown = HTTPProblem(
        .badRequest,
        code: "payment_method_unknown",
        title: "The payment method is unknown",
        detail: "The payment processor has no such method, or it is not of this account."
    )

    fileprivate static func paymentMethodNotAvailable(_ method: PaymentMethod?) -> HTTPProblem {
        HTTPProblem(
            .unprocessableContent,
            code: "payment_method_not_available",
            title: "The payment method is not available",
            detail: detail(ofMissingMethod: method)
        )
    }

    /// Explains why a method is not available, and what to do.
    private static func detail(ofMissingMethod method: PaymentMethod?) -> String {
        guard let method else {
            return "The request names no payment method, and this store has no default. Name one."
        }
        guard SandboxPaymentMethod(method) != nil else {
            return "This store has no payment processor, so that nothing can be charged."
        }
        return """
            \(method) moves no money and exists only in a store whose STORE_ENVIRONMENT is Sandbox. \
            This one has no payment processor, so that nothing can be charged.
            """
    }

    fileprivate static func applicationUsernameTooLong(max: Int) -> HTTPProblem {
        HTTPProblem(
            .badRequest,
            code: "application_username_too_long",
            title: "The application username is too long",
            detail: "The application username has at most \(max) code points."
        )
    }

    fileprivate static let paymentsNotAllowed = HTTPProblem(
        .forbidden,
        code: "payments_not_allowed",
        title: "The account may not pay",
        detail: "The store has blocked payments of this account in this app."
    )

    fileprivate static func storefrontChanged(current: Storefront) -> HTTPProblem {
        HTTPProblem(
            .conflict,
            code: "storefront_changed",
            title: "The storefront has changed",
            detail: "The account buys in \(current) now. Show the buyer the prices there first.",
            currentStorefront: current
        )
    }

    fileprivate static func alreadySubscribed(to product: ProductID) -> HTTPProblem {
        HTTPProblem(
            .conflict,
            code: "already_subscribed",
            title: "The account has a subscription of this group",
            detail: """
                \(product) is running. Only a product of a higher level, or one of the same level \
                and length, replaces it at once. Choose any other for the next period.
                """
        )
    }

    fileprivate static let purchaseIntentUnknown = HTTPProblem(
        .conflict,
        code: "purchase_intent_unknown",
        title: "The purchase intent is unknown",
        detail: "The account has no open intent of this id with this product and quantity."
    )
}

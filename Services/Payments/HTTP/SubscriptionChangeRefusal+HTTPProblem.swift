import HTTPTypes
import ServiceKit
import Subscriptions

extension SubscriptionChangeRefusal {
    /// The answer to the request.
    var problem: HTTPProblem {
        switch self {
        case .ended:
            HTTPProblem(
                .conflict,
                code: "subscription_ended",
                title: "The subscription has ended",
                detail: "A purchase of a product of its group begins it again."
            )
        case .productUnavailable:
            .badRequest(
                "product_unavailable",
                "The product is not available",
                "It is unknown or off sale, or has no price in the subscription's storefront."
            )
        case .paymentMethodUnknown: .paymentMethodUnknown
        case .tooManyTries(let pause):
            HTTPProblem(
                .conflict,
                code: "too_many_tries",
                title: "Too many charges were asked for today",
                detail: """
                    A subscriber may ask for \(AskedTries.dailyMax) charges a day. The store itself goes \
                    on trying. A card that was just chosen is saved, and pays at the next try.
                    """,
                retryAfter: pause
            )
        case .otherGroup:
            HTTPProblem(
                .conflict,
                code: "other_subscription_group",
                title: "The product belongs to another group",
                detail: "A subscription only changes to products of its own group."
            )
        case .needsPayment:
            HTTPProblem(
                .conflict,
                code: "payment_needed",
                title: "The product has to be bought",
                detail: """
                    It replaces the running product at once. Add a payment for it; the unused part \
                    of the running period is refunded.
                    """
            )
        case .nothingOwed:
            HTTPProblem(
                .conflict,
                code: "nothing_owed",
                title: "Nothing is owed",
                detail: "The running period is paid."
            )
        case .notRenewing:
            HTTPProblem(
                .conflict,
                code: "auto_renew_off",
                title: "The subscription does not renew",
                detail: "Turn its renewal on first."
            )
        case .paidInAdvance:
            HTTPProblem(
                .conflict,
                code: "next_period_paid",
                title: "The next period is paid already",
                detail: "Wait until it has begun."
            )
        case .notAsked:
            HTTPProblem(
                .conflict,
                code: "price_not_asked",
                title: "There is no question about a price",
                detail: "Nobody has asked the subscriber to agree to a higher price."
            )
        case .questionReplaced:
            HTTPProblem(
                .conflict,
                code: "price_consent_replaced",
                title: "The question was replaced",
                detail: "The price has changed again. Read the subscription, and ask once more."
            )
        case .answeredOtherwise:
            HTTPProblem(
                .conflict,
                code: "price_consent_decided_otherwise",
                title: "The subscriber has decided otherwise",
                detail: "The first answer counts. It cannot be changed."
            )
        case .noIncrease:
            HTTPProblem(
                .conflict,
                code: "price_not_higher",
                title: "The price is not higher",
                detail: "The subscriber pays as much or more already, or in another currency."
            )
        case .aboveCatalog:
            HTTPProblem(
                .conflict,
                code: "price_above_catalog",
                title: "The price is above the catalog's",
                detail: "Raise the price of the product first: no renewal costs more than that."
            )
        case .otherProduct:
            HTTPProblem(
                .conflict,
                code: "not_next_product",
                title: "The next renewal is of another product",
                detail: "The subscription has changed, or will change, to another product."
            )
        case .priceInUse:
            HTTPProblem(
                .conflict,
                code: "price_in_use",
                title: "The higher price is being charged",
                detail: """
                    The subscriber was told of it, and a charge is under way or the period is \
                    unpaid. Wait until it is paid, or the subscription has ended.
                    """
            )
        case .notExtendable:
            HTTPProblem(
                .conflict,
                code: "not_extendable",
                title: "The subscription cannot be extended",
                detail: "Only an active subscription is extended, and not while it is free."
            )
        case .tooManyExtensions:
            HTTPProblem(
                .conflict,
                code: "too_many_extensions",
                title: "The subscription was extended too often",
                detail: """
                    A subscription has at most \(RequestedExtension.countMax) extensions within 365 days.
                    """
            )
        case .extensionDiffers: .idempotencyKeyReused
        }
    }
}

extension HTTPProblem {
    /// The subscription does not exist or belongs to another account or app; the answer is the same
    /// for both.
    static let subscriptionUnknown = HTTPProblem(
        .notFound,
        code: "subscription_unknown",
        title: "The subscription is unknown",
        detail: "There is no such subscription. Its id is that of its first transaction."
    )
}

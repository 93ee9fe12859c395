import EventTypes
import HTTPTypes
import ServiceKit
import StoreAPI

extension AccountRefusal {
    /// The HTTP problem of the refusal.
    var problem: HTTPProblem {
        switch self {
        case .changeEmpty:
            .badRequest(
                "account_change_empty",
                "The change says nothing",
                "Say canMakePayments, storefront, or both."
            )
        case .payment(let refusal): refusal.problem
        case .tooManyPurchaseIntents(let max):
            HTTPProblem(
                .conflict,
                code: "too_many_purchase_intents",
                title: "The account has too many purchase intents",
                detail: "At most \(max) wait for the app at once; one has to be paid or declined."
            )
        case .tooManyPriceConsents(let max):
            HTTPProblem(
                .conflict,
                code: "too_many_price_consents",
                title: "The account has too many price consents",
                detail: "An account is asked about at most \(max) products."
            )
        case .notASubscription:
            .badRequest(
                "not_a_subscription",
                "The product is no subscription",
                "Only the price of an auto-renewable subscription rises for those who have it."
            )
        case .priceNegative:
            .badRequest("price_negative", "The price is negative", "A price is zero or more.")
        case .purchaseIntentUnknown:
            HTTPProblem(
                .notFound,
                code: "purchase_intent_unknown",
                title: "The purchase intent is unknown",
                detail: "The account has no purchase intent of this id in this app."
            )
        case .priceConsentUnknown:
            HTTPProblem(
                .notFound,
                code: "price_consent_unknown",
                title: "The price consent is unknown",
                detail: "The account was not asked under this id in this app."
            )
        case .priceConsentReplaced:
            HTTPProblem(
                .conflict,
                code: "price_consent_replaced",
                title: "Another price is asked about",
                detail: "Ask the store for the account, and the subscriber about the newer price."
            )
        case .decidedOtherwise:
            HTTPProblem(
                .conflict,
                code: "price_consent_decided_otherwise",
                title: "The subscriber has already decided otherwise",
                detail: "The first decision on a price increase counts; it cannot be taken back."
            )
        }
    }
}

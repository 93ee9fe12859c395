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
        case .purchaseIntentUnknown:
            HTTPProblem(
                .notFound,
                code: "purchase_intent_unknown",
                title: "The purchase intent is unknown",
                detail: "The account has no purchase intent of this id in this app."
            )
        }
    }
}

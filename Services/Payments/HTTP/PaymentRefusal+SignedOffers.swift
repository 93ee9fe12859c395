import HTTPTypes
import ServiceKit

// Refusals of signed offers, in the order of the checks (rule S49).
extension PaymentRefusal {
    /// The HTTP problem of a signed offer that cannot be used.
    var signedOfferProblem: HTTPProblem {
        switch self {
        case .offerUnknown(let id):
            HTTPProblem(
                .badRequest,
                code: "offer_unknown",
                title: "The offer is unknown",
                detail: "The product has no active offer \(id.prefix(64)) in this storefront."
            )
        case .offerIncomplete(let missing):
            HTTPProblem(
                .badRequest,
                code: "offer_incomplete",
                title: "The signed offer is incomplete",
                detail: "It lacks \(missing.joined(separator: ", "))."
            )
        case .offerKeyUnknown(let id):
            HTTPProblem(
                .badRequest,
                code: "offer_key_unknown",
                title: "The key of the offer is unknown",
                detail: "The app has no server key \(id.prefix(64))."
            )
        case .offerSignatureInvalid(let fault):
            HTTPProblem(
                .badRequest,
                code: "offer_signature_invalid",
                title: "The offer is not signed for this payment",
                detail: fault.rawValue
            )
        case .offerExpired:
            HTTPProblem(
                .conflict,
                code: "offer_expired",
                title: "The signature of the offer is too old",
                detail: """
                    A signature is good for 24 hours, and at most 5 minutes ahead of the clock. Have the \
                    merchant's server sign again.
                    """
            )
        case .offerNonceUsed:
            HTTPProblem(
                .conflict,
                code: "offer_nonce_used",
                title: "The signature of the offer was used",
                detail: "Another payment has used its nonce. Have the merchant's server sign again."
            )
        case .offerPriceInvalid:
            HTTPProblem(
                .conflict,
                code: "offer_price_invalid",
                title: "The offer costs more than the product",
                detail: "The ordinary price is lower by now. Ask for the products again."
            )
        default:
            HTTPProblem(
                .badRequest,
                code: "offers_contradict",
                title: "The request contradicts itself",
                detail: """
                    A payment has only one of discount, promotionalOffer and \
                    introductoryOfferEligibility, and only for an auto-renewable subscription.
                    """
            )
        }
    }
}

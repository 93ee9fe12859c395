import EventTypes
import HTTPTypes
import ServiceKit

// Refusals of offer codes, in the order of the checks (rule S57).
extension PaymentRefusal {
    /// The HTTP problem of a code that cannot be redeemed.
    var codeProblem: HTTPProblem {
        let (status, code, title): (HTTPResponse.Status, String, String) =
            switch self {
            case .codeExpired: (.gone, "code_expired", "The code is no longer valid")
            case .codeUsed: (.conflict, "code_used", "The code was redeemed")
            case .codeRedeemedBefore:
                (.conflict, "code_redeemed_before", "The account has had the offer")
            case .codeNotForCustomer:
                (.forbidden, "code_not_for_customer", "The code is not for this account")
            case .codeOfferEnded: (.conflict, "code_offer_ended", "The offer has ended")
            default: (.notFound, "code_unknown", "The code is unknown")
            }
        return HTTPProblem(status, code: code, title: title, detail: codeSentence)
    }

    /// The sentence for the person who has typed the code.
    var codeSentence: String {
        switch self {
        case .codeExpired: "This code is no longer valid."
        case .codeUsed: "This code was redeemed already."
        case .codeRedeemedBefore: "You have redeemed a code for this offer before."
        case .codeNotForCustomer(let kinds):
            switch Set(kinds) {
            case [.new]: "This code is for new subscribers."
            case [.active]: "This code is for people whose subscription is running."
            case [.expired]: "This code is for people whose subscription has ended."
            case [.new, .expired]: "This code is for people without a running subscription."
            case [.new, .active]: "This code is not for people whose subscription has ended."
            default: "This code is not for new subscribers."
            }
        case .codeOfferEnded: "The offer of this code has ended."
        default: "There is no such code. Check each letter and try again."
        }
    }
}

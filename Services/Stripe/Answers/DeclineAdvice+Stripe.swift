import EventTypes

extension DeclineAdvice {
    /// Reads the advice out of an error.
    ///
    /// A reason that is not known here is treated like the unspecific ones: later.
    init(_ error: StripeErrorBody) {
        switch error.declineCode ?? error.code {
        case "authentication_required", "authentication_not_handled",
            "payment_intent_authentication_failure":
            self = .authenticate
        case let code? where Self.final.contains(code):
            self = .never
        case let code? where Self.ofTheCard.contains(code):
            self = .otherMethod
        default:
            self =
                switch error.adviceCode {
                case "do_not_try_again": .never
                case "confirm_card_data": .otherMethod
                default: .later
                }
        }
    }

    private static let final: Set<String> = [
        "do_not_try_again", "fraudulent", "lost_card", "merchant_blacklist", "pickup_card",
        "restricted_card", "revocation_of_all_authorizations", "revocation_of_authorization",
        "security_violation", "stolen_card", "stop_payment_order",
    ]

    private static let ofTheCard: Set<String> = [
        "card_not_supported", "currency_not_supported", "expired_card", "incorrect_address",
        "incorrect_cvc", "incorrect_number", "incorrect_pin", "incorrect_zip", "invalid_account",
        "invalid_cvc", "invalid_expiry_month", "invalid_expiry_year", "invalid_number",
        "live_mode_test_card", "new_account_information_available", "not_permitted",
        "pin_try_exceeded", "testmode_decline", "transaction_not_allowed",
    ]
}

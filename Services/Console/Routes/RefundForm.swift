import EventTypes
import OperatorCore
import StoreAPI

/// The form of a refund.
enum RefundForm {
    /// The refund that is asked for: all that is left, or the amount in the form.
    static func request(
        of currency: Currency,
        because reason: ActReason,
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> RefundRequest {
        var request = RefundRequest(reason: reason)
        if let text = form["amount"], !text.isEmpty {
            guard let amount = Money(decimal: text, currency: currency), !amount.isZero else {
                throw ConsoleProblem(
                    400,
                    "Nothing was done: this is not an amount",
                    "“\(text)” is not an amount in \(currency), which has \(currency.exponent) decimal "
                        + "places. Write it with a point and without the currency.",
                    back: back
                )
            }
            request.amount = amount
        }
        switch form["effect"] {
        case "revoke": request.revokes = true
        case "keep": request.revokes = false
        default: break
        }
        return request
    }
}

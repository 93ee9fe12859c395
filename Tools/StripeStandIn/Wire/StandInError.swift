/// A refusal, with what Stripe's API says about one.
struct StandInError: Error, Hashable, Sendable {
    var status: Int
    var type: String
    var code: String?
    var declineCode: String?
    var message: String
    var parameter: String?
    /// The payment that the error belongs to, as a whole.
    var paymentIntent: StandInJSON?
    /// The header `Stripe-Should-Retry`.
    var shouldRetry: Bool?

    static func invalid(
        _ message: String,
        status: Int = 400,
        code: String? = nil,
        _ parameter: String? = nil
    ) -> StandInError {
        StandInError(
            status: status,
            type: "invalid_request_error",
            code: code,
            message: message,
            parameter: parameter
        )
    }

    static func missing(_ kind: String, _ id: String) -> StandInError {
        .invalid("No such \(kind): '\(id)'", status: 404, code: "resource_missing", "id")
    }

    /// The body of the answer.
    var body: StandInJSON {
        var members: [String: StandInJSON] = [
            "type": .text(type), "message": .text(message),
        ]
        if let code { members["code"] = .text(code) }
        if let declineCode { members["decline_code"] = .text(declineCode) }
        if let parameter { members["param"] = .text(parameter) }
        if let paymentIntent { members["payment_intent"] = paymentIntent }
        return .object(["error": .object(members)])
    }
}

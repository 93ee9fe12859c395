import NIOHTTP1

/// A request to Stripe's API.
struct StripeCall: Sendable {
    var method: HTTPMethod
    /// The path with its slash: `/v1/refunds`.
    var path: String
    var parameters = FormParameters()
    /// The key of a POST; Stripe ignores one of a GET.
    var key: StripeIdempotencyKey?

    static func get(_ path: String, _ parameters: FormParameters = FormParameters()) -> StripeCall {
        StripeCall(method: .GET, path: path, parameters: parameters)
    }

    static func post(
        _ path: String,
        _ parameters: FormParameters = FormParameters(),
        key: StripeIdempotencyKey
    ) -> StripeCall {
        StripeCall(method: .POST, path: path, parameters: parameters, key: key)
    }
}

import HTTPTypes

/// The reason to refuse an account one more of something that lasts: a stream, or a download.
package enum CapacityRefusal: Error {
    case accountHasTooMany
    case instanceHasTooMany

    /// The HTTP problem of the refusal.
    ///
    /// - Parameters:
    ///   - things: What there are too many of, such as `streams`.
    ///   - code: The problem's code if the account has too many.
    ///   - remedy: What the account can do.
    /// - Returns: 429 if the account has too many, and 503 if the instance has.
    package func problem(of things: String, code: String, _ remedy: String) -> HTTPProblem {
        switch self {
        case .accountHasTooMany:
            HTTPProblem(
                .tooManyRequests,
                code: code,
                title: "The account has too many \(things)",
                detail: remedy,
                retryAfter: .seconds(5)
            )
        case .instanceHasTooMany:
            HTTPProblem(
                .serviceUnavailable,
                code: "overloaded",
                title: "Overloaded",
                detail: "This instance serves as many \(things) as it may. Try again in a moment.",
                retryAfter: .seconds(5)
            )
        }
    }
}

/// The answers by idempotency key, kept as Stripe documents it.
///
/// Pure: the time is an argument. The rules are those of docs.stripe.com/api/idempotent_requests:
/// - The first answer of a key is kept, errors of the server included, and given to every repetition.
/// - A repetition with other parameters or another path is an `idempotency_error`.
/// - While the first request is being carried out, others under its key are refused with 409.
/// - An answer is kept only if the work had begun. A request that was refused for its parameters,
///   or for the limit of requests, leaves the key as it was.
/// - A key may be forgotten after a time; then it is a new one.
struct KeyedAnswers: Sendable {
    /// The fate of a request.
    enum Entry: Hashable, Sendable {
        /// It is the first under its key, or may be tried again.
        case begin
        /// It is answered with an earlier answer.
        case replay(StandInAnswer)
        /// It is refused.
        case refuse(StandInError)
    }

    private struct Kept {
        let fingerprint: String
        var answer: StandInAnswer?
        let since: Duration
    }

    /// The time for which a key is known.
    let lifetime: Duration
    private var kept: [String: Kept] = [:]

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Decides about a request, and takes its key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fingerprint: The path and the parameters.
    ///   - time: The time since a fixed moment.
    /// - Returns: What becomes of the request.
    mutating func begin(_ key: String, _ fingerprint: String, at time: Duration) -> Entry {
        if let one = kept[key], one.answer != nil, time >= one.since + lifetime { kept[key] = nil }
        guard let one = kept[key] else {
            kept[key] = Kept(fingerprint: fingerprint, since: time)
            return .begin
        }
        guard one.fingerprint == fingerprint else {
            return .refuse(
                StandInError(
                    status: 400,
                    type: "idempotency_error",
                    message:
                        "This key was used with other parameters or another path before: \(key)"
                )
            )
        }
        guard var answer = one.answer else {
            var error = StandInError.invalid(
                "Another request under this key is being carried out: \(key)",
                status: 409,
                code: "idempotency_key_in_use"
            )
            error.shouldRetry = true
            return .refuse(error)
        }
        answer.isReplayed = true
        return .replay(answer)
    }

    /// Keeps the answer of work that has begun.
    mutating func keep(_ answer: StandInAnswer, for key: String) { kept[key]?.answer = answer }

    /// Forgets a key whose work has not begun.
    mutating func release(_ key: String) { kept[key] = nil }
}

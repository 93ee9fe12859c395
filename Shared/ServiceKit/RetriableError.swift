public import Postgres

/// An error that says whether a retry can help.
///
/// At the HTTP edge, a retriable error becomes `503 try_again` with a `Retry-After`, and so does
/// one after which the outcome of the request is unknown.
public protocol RetriableError: Error {
    /// Whether a retry can help without any other change.
    var isRetriable: Bool { get }
    /// Whether it is unknown if the request was carried out.
    ///
    /// The store's writes recognise a repeated request, so a retry is safe. A route where it is not
    /// safe catches the error and answers differently.
    var isOutcomeUnknown: Bool { get }
}

extension RetriableError {
    /// The outcome is known, unless an error says otherwise.
    public var isOutcomeUnknown: Bool { false }

    /// Whether the client is asked to retry.
    var asksToTryAgain: Bool { isRetriable || isOutcomeUnknown }
}

/// Makes the HTTP edge answer 503 if the database is unreachable, or if the outcome of a commit is
/// unknown.
extension PostgresError: RetriableError {}

public import Postgres

/// An error that knows whether trying again can help.
///
/// At the HTTP edge a retriable one becomes `503 try_again` with a `Retry-After`, and so does one
/// that leaves open what became of the request.
public protocol RetriableError: Error {
    /// Whether trying again can help without anyone changing anything.
    var isRetriable: Bool { get }
    /// Whether nobody knows if what was asked for has been done.
    ///
    /// The writes of the store recognise a request that comes again, so to ask again is right. A
    /// route where it is not catches the error and says so.
    var isOutcomeUnknown: Bool { get }
}

extension RetriableError {
    /// The outcome is known, unless an error says otherwise.
    public var isOutcomeUnknown: Bool { false }

    /// Whether the client is told to ask again.
    var asksToTryAgain: Bool { isRetriable || isOutcomeUnknown }
}

/// So that the HTTP edge answers 503 where the database is away, and where nobody knows whether it
/// has committed.
extension PostgresError: RetriableError {}

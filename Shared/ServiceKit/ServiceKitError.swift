public import Postgres

/// What keeps a service from starting or serving.
public struct ServiceKitError: Error, Hashable, CustomStringConvertible {
    /// What kind of failure it is; a program decides by this, never by the text.
    public let code: Code
    /// What happened and what to do about it.
    ///
    /// Holds no secret.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Whether trying again can help without anyone changing anything.
    public var isRetriable: Bool { false }

    /// The kinds of failure.
    ///
    /// More may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// Settings are missing or wrong; the process exits with 78.
        public static let settings = Code(description: "settings")
        /// A key file or directory cannot be used; the process exits with 78.
        public static let keys = Code(description: "keys")
        /// Another process listens on the address.
        public static let addressInUse = Code(description: "addressInUse")
        /// The address cannot be listened on for another reason.
        public static let cannotListen = Code(description: "cannotListen")
        /// A batch was answered with another number of responses than it had requests.
        public static let batchAnsweredWrongly = Code(description: "batchAnsweredWrongly")
    }
}

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

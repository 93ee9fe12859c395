/// A failure of the database, of the connection to it, or of decoding its answer.
///
/// Neither ``description`` nor any property contains a value of a statement or a row. Server
/// messages that may quote a value are left out; the SQLSTATE, constraint, table and column show
/// where the failure occurred.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The session ended unexpectedly; uncommitted changes are rolled back.
        public static let connectionLost = Code("connectionLost")
        /// No session could be opened.
        public static let connectFailed = Code("connectFailed")
        /// No connection of the pool became free in time.
        public static let poolExhausted = Code("poolExhausted")
        /// The client has been shut down.
        public static let shutDown = Code("shutDown")
        /// A setting, such as the connection URL, is invalid.
        public static let configuration = Code("configuration")
        /// The statement took longer than the statement timeout.
        public static let statementTimeout = Code("statementTimeout")
        /// A lock was not granted within the lock timeout.
        public static let lockTimeout = Code("lockTimeout")
        /// The statement was cancelled.
        public static let cancelled = Code("cancelled")
        /// The database transaction cannot be serialized with concurrent ones (40001).
        public static let serializationFailure = Code("serializationFailure")
        /// The database transaction was the victim of a deadlock (40P01).
        public static let deadlock = Code("deadlock")
        /// A unique constraint is violated (23505).
        public static let uniqueViolation = Code("uniqueViolation")
        /// A foreign key is violated (23503).
        public static let foreignKeyViolation = Code("foreignKeyViolation")
        /// A check constraint is violated (23514).
        public static let checkViolation = Code("checkViolation")
        /// A column that must not be NULL was given no value (23502).
        public static let notNullViolation = Code("notNullViolation")
        /// An exclusion constraint is violated (23P01).
        public static let exclusionViolation = Code("exclusionViolation")
        /// The role lacks the privilege (42501).
        public static let insufficientPrivilege = Code("insufficientPrivilege")
        /// The server refuses a value (class 22).
        public static let invalidData = Code("invalidData")
        /// The server is read-only, as a standby is (25006).
        public static let readOnly = Code("readOnly")
        /// The server lacks resources: connections, memory, disk (class 53).
        public static let serverBusy = Code("serverBusy")
        /// An earlier statement of the database transaction failed, so it cannot commit.
        public static let transactionAborted = Code("transactionAborted")
        /// A table changed under a prepared statement; the statement works when run again.
        public static let stalePlan = Code("stalePlan")
        /// A column does not have the requested type or format, or is missing or NULL.
        public static let decoding = Code("decoding")
        /// The connection was lost after `COMMIT` was sent and before the answer came.
        ///
        /// The database transaction may or may not have been committed.
        public static let commitOutcomeUnknown = Code("commitOutcomeUnknown")
        /// The text of an applied migration has changed.
        public static let migrationChanged = Code("migrationChanged")
        /// The database has migrations that this program does not know.
        public static let databaseIsNewer = Code("databaseIsNewer")
        /// Any other error the server reports; see ``PostgresError/sqlState``.
        public static let server = Code("server")
    }

    /// The kind of failure.
    public let code: Code
    /// The server's SQLSTATE, if the server reported the failure.
    public let sqlState: String?
    /// The name of the violated constraint, if there is one.
    public let constraint: String?
    private let message: String

    /// Makes an error, for custom decoders.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: The failure, without any value of a row or a statement.
    public init(_ code: Code, _ message: String) {
        self.init(code, message, sqlState: nil, constraint: nil)
    }

    init(_ code: Code, _ message: String, sqlState: String?, constraint: String?) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
    }

    /// Whether a retry can succeed, and cannot have the effect twice.
    ///
    /// ``Code/commitOutcomeUnknown`` is therefore not retriable: look for the effect first, or make
    /// the work recognise a repetition.
    public var isRetriable: Bool {
        switch code {
        case .connectionLost, .connectFailed, .poolExhausted, .shutDown, .statementTimeout,
            .lockTimeout, .cancelled, .serializationFailure, .deadlock, .readOnly, .serverBusy,
            .stalePlan:
            true
        default: false
        }
    }

    /// Whether it is unknown if the database transaction was committed.
    public var isOutcomeUnknown: Bool { code == .commitOutcomeUnknown }

    /// The code, the SQLSTATE and the message.
    public var description: String {
        let state = sqlState.map { " [\($0)]" } ?? ""
        return "PostgresError.\(code)\(state): \(message)"
    }

    /// The same error with a context before its message.
    func prefixed(with context: String) -> PostgresError {
        PostgresError(
            code,
            "\(context): \(message)",
            sqlState: sqlState,
            constraint: constraint
        )
    }

    /// The same failure under another code.
    func recoded(_ code: Code) -> PostgresError {
        PostgresError(code, message, sqlState: sqlState, constraint: constraint)
    }
}

/// A failure of the database, of the way to it, or of reading what it answered.
///
/// Neither ``description`` nor any property holds a value of a statement or a row: messages of the
/// server that may quote one are left out, and the SQLSTATE, constraint, table and column say where
/// it happened.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The session ended under way; what was not committed is undone.
        public static let connectionLost = Code("connectionLost")
        /// No session could be opened.
        public static let connectFailed = Code("connectFailed")
        /// No connection of the pool came free in time.
        public static let poolExhausted = Code("poolExhausted")
        /// The client has been shut down.
        public static let shutDown = Code("shutDown")
        /// A setting, such as the connection URL, cannot be used.
        public static let configuration = Code("configuration")
        /// The statement took longer than the statement timeout.
        public static let statementTimeout = Code("statementTimeout")
        /// A lock was not granted within the lock timeout.
        public static let lockTimeout = Code("lockTimeout")
        /// The statement was cancelled.
        public static let cancelled = Code("cancelled")
        /// The database transaction cannot be ordered with concurrent ones (40001).
        public static let serializationFailure = Code("serializationFailure")
        /// The database transaction was the victim of a deadlock (40P01).
        public static let deadlock = Code("deadlock")
        /// A unique constraint is violated (23505).
        public static let uniqueViolation = Code("uniqueViolation")
        /// A foreign key is violated (23503).
        public static let foreignKeyViolation = Code("foreignKeyViolation")
        /// A check constraint is violated (23514).
        public static let checkViolation = Code("checkViolation")
        /// A column that must have a value was given none (23502).
        public static let notNullViolation = Code("notNullViolation")
        /// An exclusion constraint is violated (23P01).
        public static let exclusionViolation = Code("exclusionViolation")
        /// The role may not do this (42501).
        public static let insufficientPrivilege = Code("insufficientPrivilege")
        /// The server refuses a value (class 22).
        public static let invalidData = Code("invalidData")
        /// The server only reads, as a standby does (25006).
        public static let readOnly = Code("readOnly")
        /// The server has no room: connections, memory, disk (class 53).
        public static let serverBusy = Code("serverBusy")
        /// An earlier statement of the database transaction failed, so none of it can commit.
        public static let transactionAborted = Code("transactionAborted")
        /// A table changed under a prepared statement; the statement works when run again.
        public static let stalePlan = Code("stalePlan")
        /// A column does not have the type, the presence or the form that was asked for.
        public static let decoding = Code("decoding")
        /// The connection was lost after `COMMIT` was sent and before its answer came: the database
        /// transaction may or may not have been committed.
        public static let commitOutcomeUnknown = Code("commitOutcomeUnknown")
        /// A migration that has been applied reads otherwise.
        public static let migrationChanged = Code("migrationChanged")
        /// The database has migrations that this program does not know.
        public static let databaseIsNewer = Code("databaseIsNewer")
        /// Any other error the server reports; see ``PostgresError/sqlState``.
        public static let server = Code("server")
    }

    /// What kind of failure it is.
    public let code: Code
    /// The server's SQLSTATE, if the server reported the failure.
    public let sqlState: String?
    /// The name of the violated constraint, if there is one.
    public let constraint: String?
    private let message: String

    /// Makes an error, for decoders of one's own.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened, without any value of a row or a statement.
    public init(_ code: Code, _ message: String) {
        self.init(code, message, sqlState: nil, constraint: nil)
    }

    init(_ code: Code, _ message: String, sqlState: String?, constraint: String?) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
    }

    /// Whether doing the same once more can succeed, and cannot do it twice.
    ///
    /// ``Code/commitOutcomeUnknown`` is not retriable by this rule: look for the effect first, or
    /// make the work recognise itself.
    public var isRetriable: Bool {
        switch code {
        case .connectionLost, .connectFailed, .poolExhausted, .shutDown, .statementTimeout,
            .lockTimeout, .cancelled, .serializationFailure, .deadlock, .readOnly, .serverBusy,
            .stalePlan:
            true
        default: false
        }
    }

    /// Whether nobody knows if the database transaction was committed.
    public var isOutcomeUnknown: Bool { code == .commitOutcomeUnknown }

    /// The code, the SQLSTATE and what happened.
    public var description: String {
        let state = sqlState.map { " [\($0)]" } ?? ""
        return "PostgresError.\(code)\(state): \(message)"
    }

    /// The same error, told with what it happened to.
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

import Synchronization
import ThreadExecutor

/// One session with PostgreSQL, on a thread of its own.
///
/// A body of ``PostgresClient/withTransaction(_:)`` is isolated to a connection. It runs on the
/// connection's thread, where each statement is an ordinary, synchronous call. Keep computation
/// that needs no database out of a body, because the body holds the connection.
public actor PostgresConnection {
    /// The largest number of prepared statements in a session.
    private static let statementsMax = 256

    private nonisolated let executor: ThreadExecutor
    nonisolated let interrupter = Interrupter()
    private let settings: PostgresSettings
    private(set) var session: PQConnection? {
        didSet { socket.store(session?.socket ?? -1, ordering: .relaxed) }
    }
    /// The session's socket; -1 without a session.
    private nonisolated let socket = Atomic<Int32>(-1)
    private var statements = StatementCache(capacity: statementsMax)
    private var evicted: [String] = []
    /// The statements of the open database transaction that the server has not got yet.
    var queued: [PQConnection.Step] = []
    /// The size of their parameters.
    var queuedBytes = 0
    /// The state of the database transaction of ``transaction(_:)``.
    var block = Block.none
    /// The functions to call after the commit of the open database transaction.
    var committed: [@Sendable () -> Void] = []

    /// The connection's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a connection that is not open yet.
    ///
    /// It must be closed in any case, to end its thread.
    init(_ settings: PostgresSettings) {
        self.settings = settings
        executor = ThreadExecutor(name: "pg-\(settings.applicationName)")
    }

    /// Runs a query and returns its rows.
    ///
    /// The statement is prepared on its first use in the session. Parameters and values are sent in
    /// binary form.
    public func query(_ sql: SQL) throws(PostgresError) -> PostgresRows {
        PostgresRows(result: try perform(sql))
    }

    /// Runs a statement.
    ///
    /// - Returns: The number of rows inserted, changed, deleted or, for a query, selected.
    @discardableResult
    public func execute(_ sql: SQL) throws(PostgresError) -> Int {
        try perform(sql).affectedRows
    }

    /// Runs a statement together with the next one of the database transaction, or with its COMMIT.
    ///
    /// That saves a round trip to the server. The order stays, and after an error the server runs
    /// nothing more, COMMIT least of all. The next statement, or the end of the database transaction,
    /// throws the error. Use it for a write that affects no later decision of the body. Outside a
    /// database transaction the statement runs at once.
    public func enqueue(_ sql: SQL) throws(PostgresError) {
        guard block != .none else {
            try execute(sql)
            return
        }
        let name = try prepared(sql, requireSession())
        try makeRoom(for: sql)
        queued.append(.prepared(sql, name: name))
        queuedBytes += sql.buffer.count
    }

    /// Calls a function after the open database transaction has been committed.
    ///
    /// It is called on the connection's thread, so it must be short. It is not called if the database
    /// transaction is rolled back, if its outcome is unknown, or if the process is killed. So nothing
    /// may be lost without it. Outside a database transaction it is called at once.
    ///
    /// - Parameter body: The function.
    public func afterCommit(_ body: @escaping @Sendable () -> Void) {
        guard block != .none else { return body() }
        committed.append(body)
    }

    // MARK: - The session

    /// Opens the session.
    ///
    /// It may be called again after a failure.
    func open() throws(PostgresError) {
        let session = try PQConnection.open(
            parameters: settings.parameters,
            timeout: settings.connectTimeout,
            interrupter: interrupter
        )
        do {
            _ = try session.simpleQuery(
                settings.preamble,
                PQLimits(timeout: settings.connectTimeout, isInterruptible: true)
            )
        } catch {
            throw error.code == .cancelled ? error : error.recoded(.connectFailed)
        }
        self.session = session
    }

    /// Ends the session and the thread.
    func close() {
        session = nil
        executor.shutDown()
    }

    /// Ends the session, and with it everything that the server holds for it.
    ///
    /// The thread continues.
    func endSession() {
        session = nil
    }

    /// Whether the session can be used again: it is not lost, and no database transaction is open.
    var isUsable: Bool {
        guard let session else { return false }
        return !session.isLost && session.transactionStatus == .idle
    }

    /// Whether the session has ended.
    var isLost: Bool { session?.isLost ?? true }

    /// Checks whether the session is still open, which the server may have closed while it was
    /// idle.
    func checkIdle() -> Bool { session?.checkIdle() ?? false }

    /// Whether the server has neither said anything nor closed the session since it was last used.
    ///
    /// It does not need the connection's thread. Only the borrower of the connection may ask.
    nonisolated var isQuiet: Bool { SocketWait.isQuiet(socket.load(ordering: .relaxed)) }

    /// Begins a use of the connection, which must end by a deadline.
    func beginTurn(until deadline: PostgresDeadline?) {
        session?.deadline = deadline
    }

    /// Ends a use of the connection, so that nothing of it can affect the next one.
    func endTurn() {
        if session?.isLost == false, session?.transactionStatus != .idle {
            rollBack()
        }
        session?.settle()
        session?.deadline = nil
    }

    /// The open session.
    func requireSession() throws(PostgresError) -> PQConnection {
        guard let session else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        guard block != .failed || session.isLost else {
            throw PostgresError(.transactionAborted, "BEGIN failed and the body went on")
        }
        return session
    }

    /// The limits of statements.
    ///
    /// A cancellation does not interrupt cleanup statements.
    func limits(isInterruptible: Bool = true) -> PQLimits {
        var limits = settings.limits
        limits.isInterruptible = isInterruptible
        return limits
    }

    /// Runs one or several statements unchanged, by the simple-query protocol.
    @discardableResult
    func simple(_ text: String, isInterruptible: Bool = true) throws(PostgresError) -> PQResult {
        let session = try requireSession()
        try sendQueued()
        return try refuseCopy(
            try session.simpleQuery(text, limits(isInterruptible: isInterruptible)),
            session
        )
    }

    // MARK: - Prepared statements

    private func perform(_ sql: SQL) throws(PostgresError) -> PQResult {
        let session = try requireSession()
        let name = try prepared(sql, session)
        try makeRoom(for: sql)
        let result: PQResult
        if queued.isEmpty {
            do {
                result = try session.execute(sql, name: name, limits())
            } catch {
                if error.code == .stalePlan { forget(sql, name: name) }
                throw error
            }
        } else {
            result = try run(.prepared(sql, name: name), session)
        }
        if !evicted.isEmpty {
            deallocateEvicted(session)
        }
        return try refuseCopy(result, session)
    }

    /// Prepares a statement unless the session has it already.
    ///
    /// - Returns: Its name.
    func prepared(
        _ sql: SQL,
        _ session: PQConnection
    ) throws(PostgresError) -> String {
        let key = StatementCache.Key(text: sql.text, types: sql.types)
        if let known = statements.name(of: key) { return known }
        // The server refuses to prepare what depends on statements that it has not got yet.
        try sendQueued()
        let name = statements.makeName()
        try session.prepare(sql.text, name: name, types: sql.types, limits())
        if let old = statements.insert(key, name: name) {
            evicted.append(old)
        }
        return name
    }

    /// Prepares a statement again when it is next used.
    func forget(_ sql: SQL, name: String) {
        statements.remove(StatementCache.Key(text: sql.text, types: sql.types))
        evicted.append(name)
    }

    private func deallocateEvicted(_ session: PQConnection) {
        guard session.transactionStatus != .failed else { return }
        let commands = evicted.map { "DEALLOCATE \($0)" }.joined(separator: "; ")
        evicted.removeAll()
        // A statement that could not be deallocated takes a little of the server's memory. The next
        // statement shows whether the session is lost.
        _ = try? session.simpleQuery(
            commands,
            PQLimits(timeout: .seconds(5), isInterruptible: false)
        )
    }

    /// Ends a COPY that was started here, because a COPY needs the other side of its protocol.
    private func refuseCopy(
        _ result: PQResult,
        _ session: PQConnection
    ) throws(PostgresError) -> PQResult {
        if result.isCopyIn {
            // The server answers as to a cancelled statement, which would be worth another try.
            _ = try? session.endCopy(problem: "given up", limits())
            throw PostgresError(.server, "COPY is for copy(into:)")
        }
        if result.isCopyOut {
            close()
            throw PostgresError(.server, "COPY … TO is not supported; the session was closed")
        }
        return result
    }
}

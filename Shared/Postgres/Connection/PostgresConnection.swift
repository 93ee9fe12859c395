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
    private var session: PQConnection?
    private var statements = StatementCache(capacity: statementsMax)
    private var evicted: [String] = []

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
        return try refuseCopy(
            try session.simpleQuery(text, limits(isInterruptible: isInterruptible)),
            session
        )
    }

    // MARK: - Database transactions

    /// Runs a body between BEGIN and COMMIT.
    ///
    /// - Throws: ``NotBegun`` if the body has not run; any error of the body, after ROLLBACK; or an
    ///   error of COMMIT.
    func transaction<R>(_ body: (isolated PostgresConnection) throws -> R) throws -> R {
        do {
            try simple("BEGIN")
        } catch {
            throw NotBegun(error: error)
        }
        let result: R
        do {
            result = try body(self)
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return result
    }

    /// The database transaction could not begin, so nothing has happened.
    struct NotBegun: Error {
        let error: PostgresError
    }

    /// Rolls the database transaction back.
    ///
    /// If that fails, the session is no longer usable, and the server rolls back by itself.
    func rollBack() {
        guard let session, !session.isLost else { return }
        // The caller sees the failure in `isUsable`, which it checks next.
        _ = try? session.simpleQuery(
            "ROLLBACK",
            PQLimits(timeout: .seconds(5), isInterruptible: false)
        )
    }

    private func commit() throws(PostgresError) {
        let session = try requireSession()
        if session.transactionStatus == .failed {
            rollBack()
            throw PostgresError(
                .transactionAborted,
                "a statement failed and the body went on; rolled back"
            )
        }
        if interrupter.isRaised {
            rollBack()
            throw PostgresError(.cancelled, "cancelled before COMMIT; rolled back")
        }
        // A session that is already lost before COMMIT is sent has certainly not committed.
        guard session.checkIdle() else {
            throw PostgresError(.connectionLost, "the connection was lost before COMMIT")
        }
        let result: PQResult
        do {
            // COMMIT cannot be interrupted: from here on the server decides the outcome, which the
            // caller must learn.
            result = try session.simpleQuery("COMMIT", limits(isInterruptible: false))
        } catch {
            guard session.isLost else { throw error }
            throw error.recoded(.commitOutcomeUnknown)
        }
        guard result.commandTag == "COMMIT" else {
            throw PostgresError(.transactionAborted, "the server has rolled back instead")
        }
    }

    // MARK: - Prepared statements

    private func perform(_ sql: SQL) throws(PostgresError) -> PQResult {
        let session = try requireSession()
        let limits = limits()
        let key = StatementCache.Key(text: sql.text, types: sql.types)
        let name: String
        if let known = statements.name(of: key) {
            name = known
        } else {
            name = statements.makeName()
            try session.prepare(sql.text, name: name, types: sql.types, limits)
            if let old = statements.insert(key, name: name) {
                evicted.append(old)
            }
        }
        let result: PQResult
        do {
            result = try session.execute(sql, name: name, limits)
        } catch {
            if error.code == .stalePlan {
                statements.remove(key)
                evicted.append(name)
            }
            throw error
        }
        if !evicted.isEmpty {
            deallocateEvicted(session)
        }
        return try refuseCopy(result, session)
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
            return try session.endCopy(problem: "COPY is for copy(into:)", limits())
        }
        if result.isCopyOut {
            close()
            throw PostgresError(.server, "COPY … TO is not supported; the session was closed")
        }
        return result
    }
}

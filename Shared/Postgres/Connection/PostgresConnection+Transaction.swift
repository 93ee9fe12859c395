// Database transactions, and the pipelines in which their statements are sent.

extension PostgresConnection {
    /// The state of the database transaction of a body.
    enum Block {
        /// No body runs.
        case none
        /// BEGIN has not been sent.
        case queued
        /// The server has confirmed BEGIN.
        case begun
        /// The server has not confirmed BEGIN. Any further statement would commit by itself.
        case failed
    }

    /// The largest size of the parameters in one pipeline of several statements.
    ///
    /// The server reads nothing while it runs a statement. Data that is sent meanwhile must fit
    /// into the buffers of the sockets. Otherwise the session waits to send more, and a
    /// cancellation does not end that wait.
    private static let queuedBytesMax = 64 << 10

    /// Runs a body between BEGIN and COMMIT.
    ///
    /// BEGIN is sent together with the first statement, and COMMIT with the last ones if they were
    /// enqueued. A body without statements costs no round trip.
    ///
    /// - Throws: ``NotBegun`` if the server has not confirmed BEGIN; any error of the body, after ROLLBACK;
    ///   or an error of COMMIT.
    func transaction<R>(_ body: (isolated PostgresConnection) throws -> R) throws -> R {
        precondition(block == .none, "A database transaction contains no other.")
        guard !interrupter.isRaised else {
            throw NotBegun(error: PostgresError(.cancelled, "cancelled before BEGIN"))
        }
        queued = [.command("BEGIN")]
        queuedBytes = 0
        block = .queued
        committed = []
        defer {
            queued = []
            block = .none
        }
        let result: R
        do {
            result = try body(self)
        } catch {
            rollBack()
            guard block != .begun, let lost = error as? PostgresError, lost.code == .connectionLost
            else { throw error }
            throw NotBegun(error: lost)
        }
        try commit()
        for body in committed { body() }
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
        queued = []
        guard let session, !session.isLost, session.transactionStatus != .idle else { return }
        // The caller sees the failure in `isUsable`, which it checks next.
        _ = try? session.simpleQuery(
            "ROLLBACK",
            PQLimits(timeout: .seconds(5), isInterruptible: false)
        )
    }

    private func commit() throws {
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
            let lost = PostgresError(.connectionLost, "the connection was lost before COMMIT")
            throw block == .begun ? lost as any Error : NotBegun(error: lost)
        }
        if block == .queued, queued.count == 1 { return }
        let result = try queued.isEmpty ? commitAlone(session) : commitWithQueued(session)
        guard result.commandTag == "COMMIT" else {
            throw PostgresError(.transactionAborted, "the server has rolled back instead")
        }
    }

    private func commitAlone(_ session: PQConnection) throws(PostgresError) -> PQResult {
        do {
            // COMMIT cannot be interrupted: from here on the server decides the outcome, which the
            // caller must learn.
            return try session.simpleQuery("COMMIT", limits(isInterruptible: false))
        } catch {
            throw session.isLost ? error.recoded(.commitOutcomeUnknown) : error
        }
    }

    private func commitWithQueued(_ session: PQConnection) throws(PostgresError) -> PQResult {
        let before = queued.count
        // The statements before COMMIT can be interrupted. Then the server passes over COMMIT.
        let answers = try answers(to: queued + [.command("COMMIT")], session)
        guard let failure = answers.failure else { return answers.results[before] }
        guard session.isLost else {
            rollBack()
            throw failure
        }
        // If the server says that it ended the session at a statement before COMMIT, it has not
        // committed. Any other loss may have come after COMMIT.
        let isCertain = failure.sqlState != nil && answers.results.count < before
        throw isCertain ? failure : failure.recoded(.commitOutcomeUnknown)
    }

    // MARK: - Pipelines

    /// Sends the queued statements with another one after them, in one round trip.
    ///
    /// - Returns: The answer to that statement.
    func run(
        _ last: PQConnection.Step,
        _ session: PQConnection
    ) throws(PostgresError) -> PQResult {
        try run(queued + [last], session)
    }

    /// Runs queries one after another, in one round trip if a database transaction is open.
    func queries(_ statements: [SQL]) throws(PostgresError) -> [PostgresRows] {
        let bytes = statements.reduce(0) { $0 + $1.buffer.count }
        guard block != .none, statements.count > 1, bytes <= Self.queuedBytesMax else {
            var answers: [PostgresRows] = []
            for sql in statements { answers.append(try query(sql)) }
            return answers
        }
        let session = try requireSession()
        var steps: [PQConnection.Step] = []
        for sql in statements {
            steps.append(.prepared(sql, name: try prepared(sql, session)))
        }
        if queuedBytes + bytes > Self.queuedBytesMax { try sendQueued() }
        let answers = try answers(to: queued + steps, session)
        if let failure = answers.failure { throw failure }
        return answers.results.suffix(steps.count).map { PostgresRows(result: $0) }
    }

    /// Sends the queued statements.
    func sendQueued() throws(PostgresError) {
        guard !queued.isEmpty else { return }
        _ = try run(queued, requireSession())
    }

    private func run(
        _ steps: [PQConnection.Step],
        _ session: PQConnection
    ) throws(PostgresError) -> PQResult {
        let answers = try answers(to: steps, session)
        if let failure = answers.failure { throw failure }
        return answers.results[steps.count - 1]
    }

    private func answers(
        to steps: [PQConnection.Step],
        _ session: PQConnection
    ) throws(PostgresError) -> PQConnection.Answers {
        var limits = limits()
        // The server's own timeout is for one statement, and it sends all the answers together.
        limits.timeout = limits.timeout.map { $0 * steps.count }
        let answers = try session.run(steps, limits)
        queued = []
        queuedBytes = 0
        if block == .queued { block = answers.results.isEmpty ? .failed : .begun }
        if answers.failure?.code == .stalePlan, answers.results.count < steps.count,
            case .prepared(let sql, let name) = steps[answers.results.count]
        {
            forget(sql, name: name)
        }
        return answers
    }

    /// Sends the queued statements if they and another one are too large for one pipeline.
    func makeRoom(for sql: SQL) throws(PostgresError) {
        if queuedBytes > 0, queuedBytes + sql.buffer.count > Self.queuedBytesMax {
            try sendQueued()
        }
    }
}

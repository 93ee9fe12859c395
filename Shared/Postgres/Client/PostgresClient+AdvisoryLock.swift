import Logging

extension PostgresClient {
    /// Runs a body while a separate session holds an advisory lock, which only one session of all
    /// processes can hold.
    ///
    /// It waits for the lock until the task is cancelled. The session is watched while the body
    /// runs. If the session is lost, the lock is lost too, and the body is cancelled and must stop.
    /// Until it has stopped, it may overlap with the next holder.
    ///
    /// A stopped process loses the lock: the server ends a session that is silent for
    /// ``LockHolder/silenceMax``.
    ///
    /// - Returns: The result of the body.
    /// - Throws: Any error of the body; ``PostgresError`` with the code
    ///   ``PostgresError/Code/connectionLost`` if the session was lost, whatever the body then
    ///   threw; `CancellationError` if the task was cancelled.
    public func withAdvisoryLock<R: Sendable>(
        _ key: Int64,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withAdvisoryLock(key, LockHolder(mustMove: false), { _ in }) { _ in
            try await body()
        }
    }

    /// Runs a body that must report progress while a separate session holds an advisory lock.
    ///
    /// The lock is also lost if the body hangs in a process that still runs.
    ///
    /// - Parameters:
    ///   - key: The lock.
    ///   - holder: Receives the body's reports of progress.
    ///   - taking: Runs once the lock is held, in the session that holds it, so its commits are
    ///     those of the holder.
    ///   - body: Receives the result of `taking`.
    /// - Returns: The result of the body.
    /// - Throws: As ``withAdvisoryLock(_:_:)``, and any error of `taking`.
    public func withAdvisoryLock<Taken: Sendable, R: Sendable>(
        _ key: Int64,
        _ holder: LockHolder,
        _ taking: @escaping @Sendable (isolated PostgresConnection) throws -> Taken,
        _ body: @escaping @Sendable (Taken) async throws -> R
    ) async throws -> R {
        try await withSession(settings) { connection in
            try await connection.waitForLock(key)
            do {
                let taken = try await connection.take(taking)
                holder.begins()
                let result = try await connection.guarded(holder) { [logger] in
                    // This is logged at once, because a body that hangs may never return.
                    logger.error(
                        "The holder of a lock has not moved; the lock is given up",
                        metadata: ["lock": "\(key)", "silence": "\(LockHolder.silenceMax)"]
                    )
                } _: {
                    try await body(taken)
                }
                await connection.unlock(key)
                return result
            } catch {
                await connection.unlock(key)
                throw error
            }
        }
    }
}

extension PostgresConnection {
    /// Runs a body while this session keeps its advisory locks.
    ///
    /// The watch uses the session meanwhile, so the body must use another one. The server ends the
    /// session if this process is silent for ``LockHolder/silenceMax``; the body is then cancelled.
    ///
    /// - Returns: The result of the body.
    /// - Throws: Any error of the body; ``PostgresError`` with the code
    ///   ``PostgresError/Code/connectionLost`` if the session was lost.
    public nonisolated func keepingLocks<R: Sendable>(
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await limitSilence()
        return try await guarded(LockHolder(mustMove: false), {}, body)
    }

    /// Makes the server end this session if its client is silent for too long, outside a database
    /// transaction or inside one.
    ///
    /// Keepalives are not enough: the kernel goes on answering for a stopped process.
    func limitSilence() throws(PostgresError) {
        let milliseconds = LockHolder.silenceMax.inMilliseconds
        try simple(
            """
            SELECT set_config('idle_session_timeout', '\(milliseconds)', false),
                set_config('idle_in_transaction_session_timeout', '\(milliseconds)', false)
            """
        )
    }

    fileprivate func take<Taken: Sendable>(
        _ taking: @Sendable (isolated PostgresConnection) throws -> Taken
    ) throws -> Taken {
        try taking(self)
    }

    /// Runs a body beside a watch over the session.
    ///
    /// When one of them ends, so does the other.
    fileprivate nonisolated func guarded<R: Sendable>(
        _ holder: LockHolder,
        _ stalled: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                let turn = self.interrupter.beginTurn()
                return try await withTaskCancellationHandler {
                    do {
                        try await self.watch(holder)
                    } catch {
                        if !holder.moves { stalled() }
                        throw error
                    }
                    return nil
                } onCancel: {
                    self.interrupter.raise(turn)
                }
            }
            var result: R?
            do {
                // Either the body ends first, or the watch does, by an error or a cancellation.
                while result == nil, let next = try await group.next() {
                    result = next
                }
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            guard let result else { throw CancellationError() }
            return result
        }
    }

    /// Tries to take an advisory lock until it is granted or the task is cancelled.
    ///
    /// It polls rather than waits in the server, because a waiting statement would hold back the
    /// removal of dead rows in the whole database.
    nonisolated func waitForLock(_ key: Int64) async throws {
        while try await !tryLock(key) {
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    /// Tries to take an advisory lock.
    ///
    /// The same statement limits the silence of a session that gets the lock, as
    /// ``limitSilence()`` does; a session that still waits for it may be silent.
    func tryLock(_ key: Int64) throws(PostgresError) -> Bool {
        let milliseconds = "\(LockHolder.silenceMax.inMilliseconds)"
        return try query(
            """
            WITH attempt AS MATERIALIZED (SELECT pg_try_advisory_lock(\(key)) AS is_locked)
            SELECT is_locked,
                set_config('idle_session_timeout', silence, false),
                set_config('idle_in_transaction_session_timeout', silence, false)
            FROM attempt,
                LATERAL (SELECT CASE WHEN is_locked THEN \(milliseconds) ELSE '0' END) AS limits (silence)
            """
        ).first?.decode(Bool.self, String.self, String.self).0 ?? false
    }

    /// Releases the lock, so that the next holder gets it at once and not only when the server
    /// notices the end of the session.
    fileprivate func unlock(_ key: Int64) {
        guard !isLost else { return }
        // If this fails, the end of the session, which follows, releases the lock too.
        _ = try? simple("SELECT pg_advisory_unlock(\(key))", isInterruptible: false)
    }

    /// Returns when interrupted, and throws when the session is lost or the holder makes no
    /// progress.
    fileprivate func watch(_ holder: LockHolder) throws(PostgresError) {
        let session = try requireSession()
        do throws(PostgresError) {
            while true {
                // The wait ends at once when the server closes the session.
                _ = try session.waitForNotifications(timeout: LockHolder.askInterval)
                guard holder.moves else {
                    // The session ends now and not after the body, because a body that hangs does
                    // not end.
                    endSession()
                    throw PostgresError(
                        .connectionLost,
                        "the holder of the lock has not moved for \(LockHolder.silenceMax); "
                            + "the lock was given up"
                    )
                }
                _ = try session.simpleQuery(
                    "SELECT",
                    PQLimits(timeout: .seconds(3), isInterruptible: true)
                )
                holder.isConfirmed()
            }
        } catch  where error.code == .cancelled {
            session.settle()
        }
    }
}

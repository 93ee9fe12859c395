import Logging

extension PostgresClient {
    /// Runs a body while a session of its own holds an advisory lock: only one at a time does, in
    /// all processes that use the database.
    ///
    /// It waits for the lock, for ever or until the task is cancelled. While the body runs the
    /// session is watched; when it is lost, and the lock with it, the body is cancelled and must
    /// stop. Until it has, it may overlap with the next holder for as long as it takes to notice.
    ///
    /// A process that no longer moves loses the lock: the server ends a session that says nothing for
    /// ``LockHolder/silenceMax``.
    ///
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; ``PostgresError`` with the code
    ///   ``PostgresError/Code/connectionLost`` if the session was lost, whatever the body threw then;
    ///   `CancellationError` if the task was cancelled.
    public func withAdvisoryLock<R: Sendable>(
        _ key: Int64,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withAdvisoryLock(key, LockHolder(mustMove: false), { _ in }) { _ in
            try await body()
        }
    }

    /// The same for a body that has to show that it moves: one that hangs in a process that lives
    /// loses the lock too.
    ///
    /// - Parameters:
    ///   - key: The lock.
    ///   - holder: What the body shows that it moves with.
    ///   - taking: Runs once the lock is held, in the session that holds it: what it commits, it
    ///     commits as the holder.
    ///   - body: Gets what `taking` returned.
    /// - Returns: What the body returns.
    /// - Throws: As ``withAdvisoryLock(_:_:)``, and what `taking` throws.
    public func withAdvisoryLock<Taken: Sendable, R: Sendable>(
        _ key: Int64,
        _ holder: LockHolder,
        _ taking: @escaping @Sendable (isolated PostgresConnection) throws -> Taken,
        _ body: @escaping @Sendable (Taken) async throws -> R
    ) async throws -> R {
        try await withSession(settings) { connection in
            try await connection.limitSilence()
            try await connection.waitForLock(key)
            do {
                let taken = try await connection.take(taking)
                holder.begins()
                let result = try await connection.guarded(holder) { [logger] in
                    // At once: a body that hangs may never come back to tell.
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
    /// Runs a body while this session keeps the advisory locks it has.
    ///
    /// The session is the watch's meanwhile: use another one in the body. It is ended by the server
    /// when this process says nothing for ``LockHolder/silenceMax``; the body is then cancelled.
    ///
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; ``PostgresError`` with the code
    ///   ``PostgresError/Code/connectionLost`` if the session was lost.
    public nonisolated func keepingLocks<R: Sendable>(
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await limitSilence()
        return try await guarded(LockHolder(mustMove: false), {}, body)
    }

    /// Lets the server end this session when its client says nothing for too long, outside of a
    /// database transaction or inside one.
    ///
    /// The kernel of a process that is stopped goes on answering for it, so keepalives do not tell.
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

    /// Runs a body beside a watch over the session, and ends each with the other.
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
                // Whichever ends first: the body, or the watch by throwing or by a cancellation.
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

    /// Tries for an advisory lock until it is granted or the task is cancelled.
    ///
    /// It asks again and again rather than waiting inside the server: a statement that waits would
    /// hold back the removal of dead rows in the whole database.
    nonisolated func waitForLock(_ key: Int64) async throws {
        while try await !tryLock(key) {
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    private func tryLock(_ key: Int64) throws(PostgresError) -> Bool {
        try query("SELECT pg_try_advisory_lock(\(key))").first?.decode(Bool.self) ?? false
    }

    /// Gives the lock back, so that the next one has it at once and not when the server notices the
    /// end of the session.
    fileprivate func unlock(_ key: Int64) {
        guard !isLost else { return }
        // If it fails the end of the session, which is next, does the same.
        _ = try? simple("SELECT pg_advisory_unlock(\(key))", isInterruptible: false)
    }

    /// Returns when interrupted; throws when the session is lost, or ended because the holder does
    /// not move.
    fileprivate func watch(_ holder: LockHolder) throws(PostgresError) {
        let session = try requireSession()
        do throws(PostgresError) {
            while true {
                // Wakes at once when the server closes the session.
                _ = try session.waitForNotifications(timeout: LockHolder.askInterval)
                guard holder.moves else {
                    // At once, not after the body: a body that hangs does not end.
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

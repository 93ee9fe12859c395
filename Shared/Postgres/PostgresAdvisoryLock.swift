extension PostgresClient {
    /// Runs a body while a session of its own holds an advisory lock: only one at a time does, in
    /// all processes that use the database.
    ///
    /// It waits for the lock, for ever or until the task is cancelled. While the body runs the
    /// session is watched; when it is lost, and the lock with it, the body is cancelled and must
    /// stop. Until it has, it may overlap with the next holder for as long as it takes to notice.
    ///
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; ``PostgresError`` with the code
    ///   ``PostgresError/Code/connectionLost`` if the session was lost, whatever the body threw then;
    ///   `CancellationError` if the task was cancelled.
    public func withAdvisoryLock<R: Sendable>(
        _ key: Int64,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withSession(settings) { connection in
            try await connection.waitForLock(key)
            do {
                let result = try await Self.guarded(by: connection, body)
                await connection.unlock(key)
                return result
            } catch {
                await connection.unlock(key)
                throw error
            }
        }
    }

    /// Runs a body beside a watch over the session, and ends each with the other.
    private static func guarded<R: Sendable>(
        by connection: PostgresConnection,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                let turn = connection.interrupter.beginTurn()
                return try await withTaskCancellationHandler {
                    try await connection.watch()
                    return nil
                } onCancel: {
                    connection.interrupter.raise(turn)
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
}

extension PostgresConnection {
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

    /// Returns when interrupted; throws when the session is lost.
    fileprivate func watch() throws(PostgresError) {
        let session = try requireSession()
        do {
            while true {
                // Wakes at once when the server closes the session.
                _ = try session.waitForNotifications(timeout: .seconds(2))
                _ = try session.simpleQuery(
                    "SELECT",
                    PQLimits(timeout: .seconds(3), isInterruptible: true)
                )
            }
        } catch  where error.code == .cancelled {
            session.settle()
        }
    }
}

/// A session of one's own, apart from a pool: for work that reads for minutes, in one snapshot.
public enum PostgresSession {
    /// Runs a body with a session that is open from beginning to end of it.
    ///
    /// A cancellation of the task interrupts the statement the session is in.
    ///
    /// - Parameters:
    ///   - settings: The database; `poolSize` has no part in it. A bound of statements applies to
    ///     each of them.
    ///   - body: Uses the session, from any thread; its statements run on the session's own.
    /// - Returns: What the body returns.
    /// - Throws: ``PostgresError`` of the opening, or what the body throws.
    public static func run<R: Sendable>(
        _ settings: PostgresSettings,
        _ body: (PostgresConnection) async throws -> R
    ) async throws -> R {
        try await withSession(settings, body)
    }
}

extension PostgresConnection {
    /// Begins a database transaction that reads one moment of the database until the session ends,
    /// and writes nothing.
    ///
    /// It takes no number of its own, so it holds up no relay (`pg_snapshot_xmin` does not see it).
    public func beginSnapshot() throws(PostgresError) {
        try simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Runs a body in a database transaction of this session.
    ///
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, after it was rolled back; or what went wrong with COMMIT.
    public func inTransaction<R: Sendable>(
        _ body: @Sendable (isolated PostgresConnection) throws -> R
    ) throws -> R {
        do {
            return try transaction(body)
        } catch let error as NotBegun {
            throw error.error
        }
    }
}

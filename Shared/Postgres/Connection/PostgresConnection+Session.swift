// What a program does with a session of its own (``withSession(_:_:)``), for as long as it likes.

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

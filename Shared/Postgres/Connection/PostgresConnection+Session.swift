// Operations for a program with its own session (``withSession(_:_:)``), without time limits.

extension PostgresConnection {
    /// Begins a read-only database transaction that sees one snapshot of the database until the
    /// session ends.
    ///
    /// It gets no transaction id, so it delays no relay (`pg_snapshot_xmin` does not see it).
    public func beginSnapshot() throws(PostgresError) {
        try simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Runs a body in a database transaction of this session.
    ///
    /// - Returns: The result of the body.
    /// - Throws: Any error of the body, after a rollback; or an error of COMMIT.
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

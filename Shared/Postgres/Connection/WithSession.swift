/// Runs a body with its own connection, which is open as long as the body runs.
///
/// It is meant for short-lived programs; long-running ones use a ``PostgresClient``. Nothing is
/// retried. A cancellation of the task interrupts the connection's current statement.
///
/// - Parameters:
///   - settings: The database. The settings of the pool are ignored.
///   - body: Receives the connection. A database transaction that it leaves open is rolled back.
/// - Returns: The result of the body.
/// - Throws: Any error of the body; ``PostgresError`` if no connection can be opened.
public func withSession<R: Sendable>(
    _ settings: PostgresSettings,
    _ body: (PostgresConnection) async throws -> R
) async throws -> R {
    let connection = PostgresConnection(settings)
    let turn = connection.interrupter.beginTurn()
    return try await withTaskCancellationHandler {
        do {
            try await connection.open()
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            if let error = error as? PostgresError, error.code == .cancelled, Task.isCancelled {
                throw CancellationError()
            }
            throw error
        }
    } onCancel: {
        connection.interrupter.raise(turn)
    }
}

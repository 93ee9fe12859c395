/// Runs a body with a connection of its own, open from beginning to end of it.
///
/// For programs that come and go; what stays has a ``PostgresClient``. Nothing is tried again. A
/// cancellation of the task interrupts the statement the connection is in.
///
/// - Parameters:
///   - settings: The database; of the pool's settings none matters.
///   - body: Gets the connection. What it leaves open is rolled back.
/// - Returns: What the body returns.
/// - Throws: What the body throws; ``PostgresError`` if there is no connection.
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

/// Runs a request and cancels it if there is no answer in time.
///
/// - Throws: ``StoreFailure/unreachable(_:)`` after the timeout.
func withTimeout<Value: Sendable>(
    _ timeout: Duration,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: timeout)
            throw StoreFailure.unreachable("no answer within \(timeout)")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

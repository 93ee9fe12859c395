/// Runs a request, and breaks it off when there is no answer in time.
///
/// - Throws: ``StoreFailure/unreachable(_:)`` when the time is up.
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

import Messaging

extension EventConsumer {
    /// Runs a body while the consumer is running, and then ends the consumer.
    func running(_ body: () async throws -> Void) async throws {
        let work = Task { try await run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        work.cancel()
        try? await work.value  // Cancelled, or what the test has told already.
        try result.get()
    }
}

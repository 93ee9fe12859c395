import Synchronization

/// A bell: rung any number of times while its listener is busy, it is heard once.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func ring() {
        continuation.yield()
    }

    /// Waits for the bell or for the time to pass. One listener at a time.
    ///
    /// - Throws: `CancellationError`.
    func wait(atMost duration: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [stream] in
                for await _ in stream { return }
            }
            group.addTask {
                try await Task.sleep(for: duration)
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
        try Task.checkCancellation()
    }
}

import Logging
import Messaging
import Postgres
import ServiceLifecycle

/// Applies what Stripe tells, and looks for what it could not tell.
///
/// Every instance runs one. They share the work: each skips what another one has taken.
final class ProcessorEventRunner: Service {
    private static let rest = Duration.seconds(1)
    private static let batchSizeMax = 32

    private let handler: ProcessorEventHandler
    /// The pause between two looks at the list of events.
    private let listPause: Duration

    /// Makes a runner, which does nothing before ``run()``.
    init(handler: ProcessorEventHandler, listPause: Duration) {
        self.handler = handler
        self.listPause = listPause
    }

    /// Runs until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown { [self] in
            try await handler.client.waitForSchema()
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await self.repeatForEver(after: Self.rest) {
                        while try await self.handler.applyDue(limit: Self.batchSizeMax)
                            == Self.batchSizeMax
                        {}
                    }
                }
                group.addTask {
                    await self.repeatForEver(after: min(self.listPause, .seconds(10))) {
                        try await self.handler.readList(pause: self.listPause)
                    }
                }
            }
        }
    }

    private func repeatForEver(after pause: Duration, _ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                try await body()
            } catch is CancellationError {
                return
            } catch {
                handler.logger.warning(
                    "Events of the processor could not be read; they are read again",
                    metadata: ["error": "\(error)"]
                )
            }
            // When cancelled, the loop ends.
            try? await Task.sleep(for: pause)
        }
    }
}

import Logging
import Messaging
import Postgres
import ServiceLifecycle

/// Applies what Stripe tells, and looks for what it could not tell and for what has moved.
///
/// Every instance runs one. They share the work: each skips what another one has taken.
final class ProcessorEventRunner: Service {
    private static let rest = Duration.seconds(1)
    private static let batchSizeMax = 32

    private let handler: ProcessorEventHandler
    private let movements: MovementHandler
    /// The pauses between two looks at the list of events, and at that of movements.
    private let listPause: Duration
    private let movementsPause: Duration

    /// Makes a runner, which does nothing before ``run()``.
    init(
        handler: ProcessorEventHandler,
        movements: MovementHandler,
        listPause: Duration,
        movementsPause: Duration
    ) {
        self.handler = handler
        self.movements = movements
        self.listPause = listPause
        self.movementsPause = movementsPause
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
                        try await self.handler.prune()
                    }
                }
                group.addTask {
                    await self.repeatForEver(after: min(self.movementsPause, .seconds(10))) {
                        try await self.movements.readList(pause: self.movementsPause)
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
                    "What the processor lists could not be read; it is read again",
                    metadata: ["error": "\(error)", "account": "\(handler.account.name)"]
                )
            }
            // When cancelled, the loop ends.
            try? await Task.sleep(for: pause)
        }
    }
}

import Logging
import Messaging
import Postgres
import ServiceLifecycle

/// Does one kind of work as long as there is any, and then looks again and again.
///
/// Every instance of the service runs one. They share the work: each skips what another one has taken.
final class WorkRunner: Service {
    private let client: PostgresClient
    private let rest: Duration
    private let complaint: Logger.Message
    private let logger: Logger
    private let work: @Sendable () async throws -> Void
    private let signal = Signal()

    /// Makes a runner, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - client: The database, whose tables the work needs.
    ///   - rest: The pause between two looks.
    ///   - complaint: The warning after a look that failed.
    ///   - logger: Receives warnings.
    ///   - work: Does all the work that there is.
    init(
        client: PostgresClient,
        rest: Duration,
        complaint: Logger.Message,
        logger: Logger,
        work: @escaping @Sendable () async throws -> Void
    ) {
        self.client = client
        self.rest = rest
        self.complaint = complaint
        self.logger = logger
        self.work = work
    }

    /// Looks at once, because there is work, or because an advance of the store's clock waits for it.
    func wake() { signal.send() }

    /// Runs until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown {
            try await self.client.waitForSchema()
            await self.workForEver()
        }
    }

    private func workForEver() async {
        while !Task.isCancelled {
            do {
                try await work()
            } catch is CancellationError {
                return
            } catch {
                logger.warning(complaint, metadata: ["error": "\(error)"])
            }
            // When cancelled, the loop ends.
            try? await signal.wait(atMost: rest)
        }
    }
}

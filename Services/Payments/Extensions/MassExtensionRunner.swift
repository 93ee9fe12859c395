import Logging
import Messaging
import Postgres
import ServiceLifecycle

/// Works on requests to extend all subscribers of a product.
///
/// Every instance runs one. They share the work: each skips a request that another one works on.
final class MassExtensionRunner: Service {
    private static let rest = Duration.seconds(1)

    private let handler: MassExtensionHandler
    private let logger: Logger

    /// Makes a runner, which does nothing before ``run()``.
    init(handler: MassExtensionHandler, logger: Logger) {
        self.handler = handler
        self.logger = logger
    }

    /// Runs until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown { [self] in
            try await handler.context.client.waitForSchema()
            while !Task.isCancelled {
                do {
                    for (number, error) in try await handler.work() {
                        let isPassing = (error as? PostgresError)?.isRetriable == true
                        logger.log(
                            level: isPassing ? .warning : .error,
                            "A page of an extension of all subscribers failed; it is tried again",
                            metadata: ["request": "\(number)", "error": "\(error)"]
                        )
                    }
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning(
                        "The extensions of all subscribers could not be read; they are read again",
                        metadata: ["error": "\(error)"]
                    )
                }
                // When cancelled, the loop ends.
                try? await Task.sleep(for: Self.rest)
            }
        }
    }
}

import Logging
import Messaging
import ServiceLifecycle

/// Gives families what they share, a short while after each change.
///
/// Every instance runs one. They share the work: each skips what another one has taken.
final class FamilyShareRunner: Service {
    private static let rest = Duration.seconds(1)

    private let handler: FamilyShareHandler
    private let logger: Logger

    /// Makes a runner, which does nothing before ``run()``.
    init(handler: FamilyShareHandler, logger: Logger) {
        self.handler = handler
        self.logger = logger
    }

    /// Runs until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown { [self] in
            try await handler.waitForSchema()
            while !Task.isCancelled {
                await carryOutAll()
                // When cancelled, the loop ends.
                try? await Task.sleep(for: Self.rest)
            }
        }
    }

    private func carryOutAll() async {
        do {
            while try await handler.carryOutNext(), !Task.isCancelled {}
        } catch is CancellationError {
            return
        } catch {
            logger.warning(
                "What families share could not be looked at; it is looked at again",
                metadata: ["error": "\(error)"]
            )
        }
    }
}

import Logging
import Messaging
import ServiceLifecycle

/// Tells subscriptions of higher prices as long as there are any to tell.
///
/// Every instance runs one. Two of them never work at the same enrolment.
final class PriceEnrolmentRunner: Service {
    /// The pause between two looks.
    private static let rest = Duration.seconds(2)

    private let handler: PriceEnrolmentHandler
    private let logger: Logger
    private let signal = Signal()

    /// Makes a runner, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - handler: Tells a page.
    ///   - logger: Receives warnings.
    init(handler: PriceEnrolmentHandler, logger: Logger) {
        self.handler = handler
        self.logger = logger
    }

    /// Looks at once, because an advance of the store's clock waits.
    func wake() { signal.send() }

    /// Runs until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown {
            try await self.handler.waitForSchema()
            await self.tellForEver()
        }
    }

    private func tellForEver() async {
        while !Task.isCancelled {
            do {
                while try await handler.tellPage() {}
            } catch is CancellationError {
                return
            } catch {
                logger.warning(
                    "Subscribers were not told of a higher price; trying again",
                    metadata: ["error": "\(error)"]
                )
            }
            // When cancelled, the loop ends.
            try? await signal.wait(atMost: Self.rest)
        }
    }
}

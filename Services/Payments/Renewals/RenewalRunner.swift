import Logging
import Messaging
import Metrics
import ServiceLifecycle

/// Charges and ends subscriptions when that is due.
///
/// Every instance runs one. They share the work: each skips the rows that another one has locked.
final class RenewalRunner: Service {
    /// The most actions in one database transaction.
    private static let batchSizeMax = 512
    /// The pause between two looks.
    private static let rest = Duration.seconds(1)

    private let handler: RenewalHandler
    private let logger: Logger
    private let signal = Signal()
    private let carriedOut = Counter(label: "subscription_actions")

    /// Makes a runner, which does nothing before ``run()``.
    init(handler: RenewalHandler, logger: Logger) {
        self.handler = handler
        self.logger = logger
    }

    /// Looks for due actions at once, because the store's clock was moved.
    func wake() { signal.send() }

    /// Runs until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown {
            try await self.handler.waitForSchema()
            await self.carryOutForEver()
        }
    }

    private func carryOutForEver() async {
        while !Task.isCancelled {
            do {
                while try await carryOut() >= Self.batchSizeMax {}
            } catch is CancellationError {
                return
            } catch {
                logger.warning(
                    "Due actions of subscriptions were not carried out; trying again",
                    metadata: ["error": "\(error)"]
                )
            }
            // When cancelled, the loop ends.
            try? await signal.wait(atMost: Self.rest)
        }
    }

    private func carryOut() async throws -> Int {
        let count = try await handler.carryOut(limit: Self.batchSizeMax)
        if count > 0 { carriedOut.increment(by: count) }
        return count
    }
}

import Logging
import Messaging
import Metrics
import ServiceLifecycle

/// Charges and ends subscriptions when that is due.
///
/// Every instance runs one. They share the work: each skips the rows that another one has locked.
final class RenewalRunner: Service {
    /// The pause between two looks.
    private static let rest = Duration.seconds(1)

    private let handler: RenewalHandler
    private let load: RenewalLoad
    private let logger: Logger
    private let signal = Signal()
    private let carriedOut = Counter(label: "subscription_actions")

    /// Makes a runner, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - handler: Carries out a batch.
    ///   - load: The charges that are under way, and whether somebody buys beside them.
    ///   - logger: Receives warnings.
    init(handler: RenewalHandler, load: RenewalLoad, logger: Logger) {
        self.handler = handler
        self.load = load
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
                while try await carryOutBatch() {}
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

    /// Carries out a batch, and waits until the next one may begin.
    ///
    /// - Returns: Whether others may be due.
    private func carryOutBatch() async throws -> Bool {
        let pace: RenewalPace = load.hasBuyers() ? .besideBuyers : .alone
        let start = ContinuousClock.now
        let count = try await handler.carryOut(limit: pace.batchSizeMax)
        guard count > 0 else { return false }
        carriedOut.increment(by: count)
        try await load.wait(untilBelow: pace.openMax)
        let rest = pace.rest(after: .now - start)
        if rest > .zero { try await Task.sleep(for: rest) }
        return count >= pace.batchSizeMax
    }
}

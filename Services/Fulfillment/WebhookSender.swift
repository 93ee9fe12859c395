import EventTypes
import Logging
import Messaging
import Metrics
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Sends the webhooks that are owed, many at once, until each is confirmed.
///
/// It works through what is due, then waits for the next to become due or for the word that there
/// are new ones. None is given up: a merchant's endpoint that fails is tried again ever more
/// rarely, up to the ceiling, and its deliveries stay pending for everyone to see.
final class WebhookSender: Service {
    /// How much is sent at once, and when again.
    struct Limits: Sendable {
        var concurrency = 32
        /// The wait between the tries of one delivery.
        var retries = RetryPolicy(base: .seconds(1), ceiling: .seconds(3600))
        /// How long at most until the ledger is looked through again, for what other instances left.
        var pollInterval = Duration.seconds(5)

        /// How many go to one host at once, so that one that hangs does not hold up the others.
        var concurrencyPerHost: Int { max(1, concurrency / 4) }
    }

    private let handler: WebhookHandler
    private let transport: WebhookTransport
    private let recorder: RequestBatcher<WebhookOutcome, Void>
    private let limits: Limits
    private let logger: Logger
    private let signal = Signal()
    private let inFlight = Mutex(InFlight())

    private struct InFlight {
        var count = 0
        var perHost: [String: Int] = [:]
        var isStopping = false
    }

    /// Makes a sender.
    ///
    /// It does nothing before ``run()``.
    ///
    /// The recorder performs ``WebhookHandler/record(_:)`` and runs longer than the sender.
    init(
        handler: WebhookHandler,
        transport: WebhookTransport,
        recorder: RequestBatcher<WebhookOutcome, Void>,
        limits: Limits,
        logger: Logger
    ) {
        self.handler = handler
        self.transport = transport
        self.recorder = recorder
        self.limits = limits
        self.logger = logger
    }

    /// Says that there may be webhooks to send.
    func wake() {
        signal.ring()
    }

    /// Sends until the service shuts down; what is under way then is brought to its end.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                while !Task.isCancelled, !inFlight.withLock({ $0.isStopping }) {
                    let pause = await startDue(in: &group)
                    // Cancelled: the loop's condition ends it.
                    try? await signal.wait(atMost: pause)
                }
            } onGracefulShutdown: {
                self.inFlight.withLock { $0.isStopping = true }
                self.signal.ring()
            }
        }
        try await transport.shutDown()
    }

    /// Starts what is due and there is room for.
    ///
    /// - Returns: How long to wait unless a try ends or something new comes.
    private func startDue(in group: inout DiscardingTaskGroup) async -> Duration {
        do {
            while true {
                let (room, busyHosts) = inFlight.withLock { state in
                    let busy = state.perHost.filter { $0.value >= limits.concurrencyPerHost }
                    return (limits.concurrency - state.count, Array(busy.keys))
                }
                // Each try that ends rings.
                guard room > 0 else { return limits.pollInterval }
                let limit = min(room, limits.concurrencyPerHost)
                let webhooks = try await handler.take(limit: limit, excluding: busyHosts)
                for webhook in webhooks {
                    inFlight.withLock { state in
                        state.count += 1
                        state.perHost[webhook.host, default: 0] += 1
                    }
                    group.addTask {
                        await self.send(webhook)
                        self.finish(webhook)
                    }
                }
                guard webhooks.count == limit else {
                    guard busyHosts.isEmpty, let due = try await handler.untilNextDue() else {
                        return limits.pollInterval
                    }
                    return min(max(due, .milliseconds(1)), limits.pollInterval)
                }
            }
        } catch {
            logger.debug("Webhooks cannot be taken on", metadata: ["error": "\(error)"])
            return limits.pollInterval
        }
    }

    private func finish(_ webhook: Webhook) {
        inFlight.withLock { state in
            state.count -= 1
            let left = state.perHost[webhook.host, default: 1] - 1
            state.perHost[webhook.host] = left > 0 ? left : nil
        }
        signal.ring()
    }

    private func send(_ webhook: Webhook) async {
        do {
            let result = try await transport.send(webhook, at: handler.now())
            let now = handler.now()
            let pause = limits.retries.delay(
                afterFailures: webhook.attempt,
                jitter: .random(in: 0...1)
            )
            Counter(label: "webhook_attempts", dimensions: [("result", result.rawValue)])
                .increment()
            if result != .success {
                logger.debug(
                    "A webhook is not confirmed",
                    metadata: [
                        "webhook.id": "\(webhook.id)", "webhook.result": "\(result.rawValue)",
                        "webhook.attempt": "\(webhook.attempt)", "webhook.host": "\(webhook.host)",
                    ]
                )
            }
            try await recorder.submit(
                WebhookOutcome(
                    webhook: webhook,
                    result: result,
                    time: now,
                    nextAttemptAt: now.advanced(by: pause)
                )
            )
        } catch {
            // Sent or not, it is not recorded: it is due again after its lease, under the same id.
            logger.debug(
                "The outcome of a webhook is not recorded",
                metadata: ["webhook.id": "\(webhook.id)", "error": "\(error)"]
            )
        }
    }
}

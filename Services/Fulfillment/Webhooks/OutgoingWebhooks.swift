import Callbacks
import EventTypes
import Logging
import Messaging
import Metrics
import ServiceKit
import StoreTracing

/// The pending webhooks, each until it is confirmed.
///
/// No webhook is given up. If a merchant's endpoint fails, it is tried again at growing intervals
/// up to a limit, and its deliveries stay pending and visible.
struct OutgoingWebhooks: OutgoingCalls {
    let handler: WebhookHandler
    let transport: CallbackTransport
    let signer: WebhookSigner
    /// Performs ``WebhookHandler/record(_:)``.
    ///
    /// It runs longer than the sender.
    let recorder: RequestBatcher<WebhookOutcome, Void>
    /// The wait between the tries of one delivery.
    let retries: RetryPolicy
    var spans: SpanRecorder = .off
    let logger: Logger

    func take(limit: Int, excluding hosts: [String]) async throws -> [Webhook] {
        try await handler.take(limit: limit, excluding: hosts)
    }

    func untilNextDue() async throws -> Duration? {
        try await handler.untilNextDue()
    }

    func perform(_ webhook: Webhook) async {
        do {
            let result = try await send(webhook)
            let pause = retries.delay(afterFailures: webhook.attempt, jitter: .random(in: 0...1))
            Counter(label: "webhook_attempts", dimensions: [("result", result.rawValue)])
                .increment()
            if result != .success {
                logger.debug(
                    "A webhook is not confirmed",
                    metadata: [
                        "webhook.id": "\(webhook.id)", "webhook.result": "\(result.rawValue)",
                        "webhook.attempt": "\(webhook.attempt)", "webhook.host": "\(webhook.host)",
                        "trace": "\(webhook.trace)",
                    ]
                )
            }
            try await recorder.submit(
                WebhookOutcome(
                    webhook: webhook,
                    result: result,
                    time: handler.now(),
                    nextAttemptAt: handler.machineNow().advanced(by: pause)
                )
            )
        } catch {
            // Sent or not, the outcome is not recorded, so it is due again after its lease, with
            // the same id.
            logger.debug(
                "The outcome of a webhook is not recorded",
                metadata: ["webhook.id": "\(webhook.id)", "error": "\(error)"]
            )
        }
    }

    func shutDown() async throws {
        try await transport.shutDown()
    }

    /// Sends a webhook, signed for this try.
    func send(_ webhook: Webhook) async throws -> CallbackResult {
        let body = try webhook.body()
        var headers = signer.headers(id: webhook.id, time: handler.machineNow(), body: body)
        let step = spans.next(after: webhook.traceparent, .client)
        if let step { headers.append((name: "traceparent", value: "\(step.traceparent)")) }
        let start = spans.start
        let result = try await transport.post(body, to: webhook.url, headers: headers)
        let span = step?.span(
            "call webhook",
            from: start,
            to: spans.start,
            attributes: [
                "server.address": .text(webhook.host), "counterfoil.try": .number(webhook.attempt),
                "counterfoil.result": .text(result.rawValue),
            ],
            isError: result != .success
        )
        if let span { spans.record([span]) }
        return result
    }
}

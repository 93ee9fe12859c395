import Callbacks
import ServiceFoundation
import ServiceKit

/// The parts of `fulfillment` that tell merchants' servers of deliveries.
struct WebhookParts {
    /// Keeps what is owed.
    let handler: WebhookHandler
    /// Records what became of it, many at once; it runs longer than the sender.
    let recorder: RequestBatcher<WebhookOutcome, Void>
    /// Sends it.
    let sender: CallbackSender<WebhookLedger>

    init(_ settings: FulfillmentSettings, signer: WebhookSigner, on frame: ServiceFrame) {
        let handler = WebhookHandler(
            client: frame.client,
            now: frame.now,
            lease: settings.webhookLease,
            wakeRelay: frame.wakeRelay
        )
        let recorder = RequestBatcher<WebhookOutcome, Void>(
            name: "webhook_outcomes",
            logger: frame.logger
        ) { outcomes in
            try await handler.record(outcomes)
            return outcomes.map { _ in }
        }
        self.handler = handler
        self.recorder = recorder
        sender = CallbackSender(
            ledger: WebhookLedger(
                handler: handler,
                transport: CallbackTransport(timeout: settings.webhookTimeout),
                signer: signer,
                recorder: recorder,
                retries: settings.webhookRetries,
                spans: frame.spans,
                logger: frame.logger
            ),
            limits: settings.webhooks,
            logger: frame.logger
        )
    }

    /// Tells the sender that something is owed.
    var wake: @Sendable () -> Void {
        { [sender] in sender.wake() }
    }
}

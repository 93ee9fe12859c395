import Callbacks
import ServiceFoundation
import ServiceKit

/// The parts of `fulfillment` that send merchants' servers webhooks about deliveries.
struct WebhookParts {
    /// Leases the webhooks that are pending.
    let handler: WebhookHandler
    /// Records the results in batches.
    ///
    /// It runs longer than the sender.
    let recorder: RequestBatcher<WebhookOutcome, Void>
    /// Sends the webhooks.
    let sender: CallbackSender<OutgoingWebhooks>

    init(
        _ settings: WebhookSettings,
        signer: WebhookSigner,
        publisher: QueuePublisher,
        on frame: ServiceFrame
    ) {
        let handler = WebhookHandler(
            client: frame.client,
            now: frame.storeNow,
            machineNow: frame.machineNow,
            lease: settings.lease,
            publisher: publisher
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
            calls: OutgoingWebhooks(
                handler: handler,
                transport: CallbackTransport(timeout: settings.timeout),
                signer: signer,
                recorder: recorder,
                retries: settings.retries,
                spans: frame.spans,
                logger: frame.logger
            ),
            limits: settings.limits,
            logger: frame.logger
        )
    }

    /// Wakes the sender because a webhook may be due.
    var wake: @Sendable () -> Void {
        { [sender] in sender.wake() }
    }
}

import EventTypes
import Logging
import ServiceFoundation
import ServiceKit

extension ServiceDefinition {
    /// The definition of the service `fulfillment`.
    static let fulfillment = ServiceDefinition(
        .fulfillment,
        publishes: [Topics.fulfillmentTransactions, Topics.fulfillmentQueues],
        migrations: FulfillmentMigrations.all,
        rebuilder: FulfillmentRebuildHandler()
    )
}

/// Composes `fulfillment` from its settings.
///
/// It reads the files that the settings name, and opens no connection.
func composeFulfillment(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = FulfillmentSettings(&reader)
    let signer = try WebhookSigner(setting: settings.webhooks.secret, &reader)
    try reader.check()
    let frame = try ServiceFrame(.fulfillment, settings.common, logger: logger)
    return try composeFulfillment(settings, signer, on: frame)
}

/// Builds the parts that only `fulfillment` has: buyers' queues, the webhooks to merchants,
/// and the content hosted for products.
private func composeFulfillment(
    _ settings: FulfillmentSettings,
    _ signer: WebhookSigner,
    on frame: ServiceFrame
) throws -> Composition {
    let (client, now, logger) = (frame.client, frame.storeNow, frame.logger)
    // Everything that can throw comes before the HTTP clients, which would have to be closed.
    let servers = try ServerAPIAuthenticator(
        settings.servers,
        now: frame.machineNow,
        logger: logger
    )
    let queues = QueueParts(settings, on: frame)
    let webhooks = WebhookParts(
        settings.webhooks,
        signer: signer,
        publisher: queues.publisher,
        on: frame
    )
    let handler = TransactionHandler(
        now: now,
        machineNow: frame.machineNow,
        publisher: queues.publisher,
        wakeWebhooks: webhooks.wake,
        webhookLease: settings.webhooks.lease
    )
    let consumer = frame.consumer(
        of: [Topics.paymentsTransactions, Topics.receiptsIssued, Topics.catalogProducts],
        handler: handler
    )
    // A charge is often faster than this. Then the queue shows its result alone.
    let purchasing = frame.consumer(
        of: [Topics.paymentsPurchasing],
        handler: handler,
        delay: settings.purchasingDelay
    )
    let contents = ContentParts(settings.contents, on: frame)
    let unfinished = UnfinishedStore(client: client)
    return frame.composition([
        webhooks.recorder, webhooks.sender, consumer, purchasing, queues.tail,
        queues.heartbeat, queues.finishes, contents.cleaning,
        UnfinishedWatch(store: unfinished, now: now, logger: logger),
    ]) { router in
        queues.addRoutes(to: router, servers: servers, frame)
        UnfinishedRoutes(store: unfinished, now: now).add(to: router)
        DeferredRoutes(store: DeferredStore(client: client)).add(to: router)
        WebhookAdminRoutes(webhooks: webhooks.handler, wake: webhooks.wake).add(to: router)
        contents.addRoutes(to: router)
    }
}

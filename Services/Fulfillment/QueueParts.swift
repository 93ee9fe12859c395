import EventTypes
import Messaging
import ServiceFoundation
import ServiceKit

/// The parts of `fulfillment` that buyers' apps deal with: the streams of their queues, and finishing.
struct QueueParts {
    /// Reads queues.
    let store: QueueReadStore
    /// The connected streams.
    let hub: QueueHub
    /// Brings the streams what any instance publishes.
    let tail: EventTail
    /// Keeps streams alive, and finds what they missed.
    let heartbeat: QueueHeartbeat
    /// Finishes transactions, many at once.
    let finishes: RequestBatcher<FinishRequest, FinishOutcome>

    init(_ settings: FulfillmentSettings, on frame: ServiceFrame) {
        let hub = QueueHub(limits: settings.streams, spans: frame.spans)
        let finishing = FinishHandler(
            client: frame.client,
            now: frame.now,
            spans: frame.spans,
            wakeRelay: frame.wakeRelay
        )
        self.hub = hub
        store = QueueReadStore(client: frame.client)
        tail = EventTail(
            topics: [Topics.fulfillmentTransactions],
            kafka: frame.kafka,
            logger: frame.logger,
            receive: { hub.receive($0) }
        )
        heartbeat = QueueHeartbeat(
            hub: hub,
            store: store,
            interval: settings.heartbeat,
            logger: frame.logger
        )
        finishes = RequestBatcher(
            name: "finishes",
            batchSizeMax: settings.finishBatchMax,
            pendingMax: settings.finishPendingMax,
            waitMax: settings.common.databaseWaitMax,
            logger: frame.logger
        ) { try await finishing.finish($0) }
    }

    /// Adds what apps, and merchants' servers, ask of queues.
    func addRoutes(to router: StoreRouter, servers: ServerAPIAuthenticator, _ frame: ServiceFrame) {
        FulfillmentRoutes(hub: hub, store: store, finishes: finishes, logger: frame.logger)
            .add(to: router)
        HistoryRoutes(store: store).add(to: router)
        ServerFinishRoutes(authenticator: servers, store: store, finishes: finishes)
            .add(to: router)
    }
}

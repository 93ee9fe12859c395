import EventTypes
import Messaging
import ServiceFoundation
import ServiceKit

/// The parts of `fulfillment` that serve buyers' apps: the streams of their queues, and finishing.
struct QueueParts {
    /// Reads queues.
    let store: QueueReadStore
    /// The connected streams.
    let hub: QueueHub
    /// Passes on to the streams the changes that any instance publishes.
    let tail: EventTail
    /// Keeps streams alive and finds the changes they missed.
    let heartbeat: QueueHeartbeat
    /// Finishes transactions in batches.
    let finishes: RequestBatcher<FinishRequest, FinishOutcome>

    /// Publishes changes of queues, to the streams of this process at once.
    let publisher: QueuePublisher

    init(_ settings: FulfillmentSettings, on frame: ServiceFrame) {
        let hub = QueueHub(limits: settings.streams, spans: frame.spans)
        publisher = QueuePublisher(
            pass: { hub.pass($0, of: $1) },
            wakeRelay: frame.wakeRelay
        )
        let finishing = FinishHandler(
            client: frame.client,
            now: frame.storeNow,
            spans: frame.spans,
            publisher: publisher
        )
        self.hub = hub
        store = QueueReadStore(client: frame.client, now: frame.storeNow)
        tail = EventTail(
            topics: [Topics.fulfillmentQueues, Topics.fulfillmentTransactions],
            kafka: frame.kafka,
            logger: frame.logger,
            isWanted: { hub.wants($0, of: $1) },
            isKnown: { hub.hasPassed($0) },
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
            // Each batch is also published, and applied by two services.
            restingBelow: 16,
            logger: frame.logger
        ) { try await finishing.finish($0) }
    }

    /// Adds the routes about queues for apps and for merchants' servers.
    func addRoutes(to router: StoreRouter, servers: ServerAPIAuthenticator, _ frame: ServiceFrame) {
        FulfillmentRoutes(hub: hub, store: store, finishes: finishes, logger: frame.logger)
            .add(to: router)
        HistoryRoutes(store: store).add(to: router)
        ServerFinishRoutes(authenticator: servers, store: store, finishes: finishes)
            .add(to: router)
    }
}

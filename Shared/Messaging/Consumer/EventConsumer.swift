public import EventTypes
public import Kafka
public import Logging
public import Postgres
public import ServiceLifecycle
public import StoreTracing

/// Brings events from Kafka into a service's database, each with exactly one effect.
///
/// A batch of messages becomes one database transaction: the effect of the events that are due, and
/// the consumer's places. Only after its commit is the offset committed to the broker, within a
/// quarter of a second. After a crash the consumer reads again from the last committed offset, and
/// recognises by its places what is already applied. Rebalances and
/// crashes therefore take the same path. Events that the handler does not act on only move the
/// places. They wait for a batch with others, 50 ms at most.
///
/// If the database is unreachable, the consumer goes back to the beginning of the batch and waits;
/// it commits nothing meanwhile. An event that cannot be applied goes to ``DeadLetters``.
public struct EventConsumer: Service {
    /// The time for which a fetch waits for a message if its events are applied later anyway.
    private static let patience = Duration.milliseconds(500)

    private let loop: ConsumerLoop

    /// Makes a consumer.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - name: The service that consumes: the Kafka group and the owner of the places.
    ///   - topics: The topics it reads.
    ///   - handler: The handler that applies the events.
    ///   - client: The database of the service.
    ///   - clock: The store's clock in this process; `nil` for one that was never set. No event is
    ///     applied before the clock has caught up with it.
    ///   - kafka: How to reach the broker.
    ///   - delay: The age that events have when they are applied. Only the time from their
    ///     publication counts, and a wait is never longer than this.
    ///   - fetchWait: The least time for which a fetch waits for a message. A broker that ends the wait
    ///     when a message comes delays nothing. Others may deliver an event later, by up to this time.
    ///   - batchSizeMax: The largest number of events in one database transaction.
    ///   - spans: Receives a span for each applied event.
    ///   - logger: Receives the consumer's log messages.
    public init(
        name: ServiceName,
        topics: [Topic],
        handler: any EventHandler,
        client: PostgresClient,
        clock: ProcessClock? = nil,
        kafka: KafkaSettings,
        delay: Duration = .zero,
        fetchWait: Duration = .zero,
        batchSizeMax: Int = 500,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "consumer"] = .string(name.rawValue)
        let wait = max(fetchWait, min(delay, Self.patience))
        loop = ConsumerLoop(
            name: name,
            topics: topics,
            client: client,
            clock: clock,
            kafka: wait > .zero ? kafka.waiting(atLeast: wait) : kafka,
            delay: delay,
            batchSizeMax: batchSizeMax,
            applier: BatchApplier(
                consumer: name.rawValue,
                handler: handler,
                client: client,
                clock: clock,
                spans: spans,
                logger: logger
            ),
            logger: logger
        )
    }

    /// Consumes until the service shuts down.
    ///
    /// - Throws: `KafkaError` if the configuration can never work.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await loop.run()
        }
    }
}

public import EventTypes
public import Kafka
public import Logging
public import Postgres
public import ServiceLifecycle
public import StoreTracing

/// Brings events from Kafka into a service's database, each exactly once in effect.
///
/// A batch of messages becomes one database transaction: inbox rows for what is new, the handler's
/// effect, the consumer's place. Only after its commit is the offset committed to the broker, within a
/// quarter of a second. A crash anywhere repeats what was read since, and the inbox recognises what
/// was done. Rebalance and crash are therefore the same path: what was not committed comes again.
///
/// A database that is away makes the consumer go back to the batch's beginning and wait; nothing is
/// committed meanwhile. An event that cannot be applied goes to ``DeadLetters``.
public struct EventConsumer: Service {
    private let name: String
    private let loop: ConsumerLoop

    /// Makes a consumer.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - name: The Kafka group and the owner of the inbox rows. Replicas share it.
    ///   - topics: What it reads.
    ///   - handler: What it does.
    ///   - client: Where it does it.
    ///   - kafka: How to reach the broker.
    ///   - batchSizeMax: The most events in one database transaction.
    ///   - spans: Takes a span of each event that was applied.
    ///   - logger: Where it reports.
    public init(
        name: String,
        topics: [Topic],
        handler: any EventHandler,
        client: PostgresClient,
        kafka: KafkaSettings,
        batchSizeMax: Int = 500,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "consumer"] = .string(name)
        self.name = name
        loop = ConsumerLoop(
            name: name,
            topics: topics,
            client: client,
            kafka: kafka,
            batchSizeMax: batchSizeMax,
            applier: BatchApplier(
                consumer: name,
                handler: handler,
                client: client,
                spans: spans,
                logger: logger
            ),
            logger: logger
        )
    }

    /// Consumes until the service shuts down.
    ///
    /// - Throws: `KafkaError` of a configuration that can never work.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await loop.run()
        }
    }
}

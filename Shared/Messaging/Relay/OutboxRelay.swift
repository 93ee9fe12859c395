public import EventTypes
public import Kafka
public import Logging
import Metrics
public import Postgres
public import ServiceLifecycle
public import StoreTracing

/// Publishes the outbox of a service, in commit order, and keeps it published.
///
/// One relay of a service works at a time, by an advisory lock of its database; the others stand
/// by, and take over within 15 seconds from one that no longer moves (``Lead``). It is woken by
/// ``wake()`` and by the notification of ``Outbox``. Its place moves only after
/// the broker has confirmed a batch, so a crash publishes a batch again rather than losing it; the
/// inboxes recognise it.
///
/// It also notices when the broker has lost its log (a topic of its own is gone, or an offset goes
/// backwards): it then makes the topics again, begins a new epoch, and publishes from the oldest
/// event that a consumer has not confirmed.
public struct OutboxRelay: Service {
    private let leadership: RelayLeadership
    private let client: PostgresClient
    private let signal: Signal
    private let logger: Logger
    private let lockKey: Int64

    /// Makes a relay.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - service: The service's name, which becomes the `ce_source` of its events.
    ///   - topics: The topics the service writes.
    ///   - client: Its database.
    ///   - kafka: How to reach the broker, for topics and for the consumers' offsets.
    ///   - topicSettings: What a missing topic is made with.
    ///   - spans: Takes a span of each event that was published.
    ///   - logger: Where it reports.
    public init(
        service: String,
        topics: [Topic],
        client: PostgresClient,
        kafka: KafkaSettings,
        topicSettings: TopicSettings,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "relay"] = .string(service)
        self.client = client
        self.logger = logger
        signal = Signal()
        lockKey = 0x6F75_7462_6F78
        leadership = RelayLeadership(
            service: service,
            topics: topics,
            client: client,
            kafka: kafka,
            topicSettings: topicSettings,
            signal: signal,
            spans: spans,
            logger: logger
        )
    }

    /// Tells the relay that a database transaction of this process has appended events.
    public func wake() {
        signal.ring()
    }

    /// Whether this process has seen every topic of the service exist.
    public var isReady: Bool { leadership.topicsExist }

    /// Publishes until the service shuts down.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in client.notifications(on: [Outbox.channel]) {
                    switch event {
                    case .listening, .notification: signal.ring()
                    }
                }
            }
            group.addTask { await SpineWatch(client: client, logger: logger).run() }
            group.addTask { await leadership.lookForTopics() }
            group.addTask {
                await cancelWhenGracefulShutdown {
                    await leadForEver()
                }
            }
            // The others never end by themselves: the shutdown of the leader ends all.
            try await group.next()
            group.cancelAll()
        }
    }

    private func leadForEver() async {
        let retries = Retries()
        while !Task.isCancelled {
            do {
                try await leadership.checkTopics()
                try await client.withLead("relay", key: lockKey) { [leadership] lead in
                    try await leadership.run(lead, retries)
                }
            } catch is CancellationError {
                return
            } catch {
                let failures = retries.failed()
                let isAway = (error as? KafkaError)?.code == .brokerUnavailable
                logger.warning(
                    isAway
                        ? "The broker cannot be reached; trying on"
                        : "The relay stopped and starts again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
                try? await retries.pause()  // Cancelled: the loop's condition ends it.
            }
        }
    }
}

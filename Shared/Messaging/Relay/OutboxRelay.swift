public import EventTypes
public import Kafka
public import Logging
import Metrics
public import Postgres
public import ServiceLifecycle
public import StoreTracing

/// Publishes the outbox of a service, in commit order.
///
/// One relay of a service works at a time, thanks to an advisory lock of its database. The others
/// stand by, and take over within 15 seconds if it stops making progress (``Lead``). ``wake()`` and
/// the notification of ``Outbox`` wake the relay. Its place moves only after the broker has
/// confirmed a batch. After a crash a batch may therefore be published twice but is never lost, and
/// consumers recognise the repeated events.
///
/// The relay also detects that the broker has lost its log: a topic of the service is gone, or an
/// offset goes backwards. It then recreates the topics, begins a new epoch, and publishes again
/// from the oldest event that some consumer has not confirmed.
public struct OutboxRelay: Service {
    private let leadership: RelayLeadership
    private let client: PostgresClient
    private let clock: ProcessClock
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
    ///   - client: The service's database.
    ///   - clock: The store's clock in this process; `nil` for one that was never set.
    ///   - kafka: How to reach the broker, for publishing, for topics and for the consumers'
    ///     offsets.
    ///   - topicSettings: The settings of the topics that the relay creates.
    ///   - spans: Receives a span for each published event.
    ///   - logger: Receives the relay's log messages.
    public init(
        service: String,
        topics: [Topic],
        client: PostgresClient,
        clock: ProcessClock? = nil,
        kafka: KafkaSettings,
        topicSettings: TopicSettings,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "relay"] = .string(service)
        let clock = clock ?? ProcessClock(client: client)
        self.client = client
        self.clock = clock
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

    /// Wakes the relay after a database transaction of this process has appended events.
    public func wake() {
        signal.send()
    }

    /// Whether this process has seen that every topic of the service exists.
    public var isReady: Bool { leadership.topicsExist }

    /// Publishes until the service shuts down.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in client.notifications(on: [Outbox.channel]) {
                    switch event {
                    case .listening, .notification: signal.send()
                    }
                }
            }
            group.addTask { await SpineWatch(client: client, clock: clock, logger: logger).run() }
            group.addTask {
                await OutboxPartitions(client: client, clock: clock, logger: logger).run()
            }
            group.addTask { await leadership.lookForTopics() }
            group.addTask {
                await cancelWhenGracefulShutdown {
                    await leadForEver()
                }
            }
            // Only the leader's task ends by itself, at shutdown; its end cancels the others.
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
                        ? "The broker cannot be reached; trying again"
                        : "The relay stopped and starts again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
                try? await retries.pause()  // If cancelled, the loop ends.
            }
        }
    }
}

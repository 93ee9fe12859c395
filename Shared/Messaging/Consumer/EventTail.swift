public import EventTypes
public import Kafka
public import Logging
public import ServiceLifecycle

/// Follows topics from their present end and hands each batch on, keeping nothing: for what is lost
/// with the process anyway, such as streams to connected clients.
///
/// Every process that runs one sees every event; there is no group and no offset. It promises no
/// more than to be quick: whoever is fed by it must be able to tell a gap and heal it elsewhere.
public struct EventTail: Service {
    private let topics: [Topic]
    private let kafka: KafkaSettings
    private let logger: Logger
    private let receive: @Sendable ([ReceivedEvent]) async -> Void

    /// Makes a tail.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - topics: What it follows.
    ///   - kafka: How to reach the broker.
    ///   - logger: Where it reports.
    ///   - receive: Takes each batch, in partition order. The next one waits for it.
    public init(
        topics: [Topic],
        kafka: KafkaSettings,
        logger: Logger,
        receive: @escaping @Sendable ([ReceivedEvent]) async -> Void
    ) {
        self.topics = topics
        self.kafka = kafka
        self.logger = logger
        self.receive = receive
    }

    /// Follows until the service shuts down.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            let retries = Retries()
            while !Task.isCancelled {
                let consumer = try KafkaConsumer(
                    settings: kafka,
                    followingTopics: topics.map(\.name),
                    logger: logger
                )
                do {
                    try await follow(with: consumer, retries)
                } catch is CancellationError {
                    await consumer.close()
                    return
                } catch {
                    let failures = retries.failed()
                    logger.warning(
                        "The tail stopped and starts again",
                        metadata: ["error": "\(error)", "failures": "\(failures)"]
                    )
                }
                await consumer.close()
                try? await retries.pause()  // Cancelled: the loop's condition ends it.
            }
        }
    }

    private func follow(with consumer: KafkaConsumer, _ retries: Retries) async throws {
        var epochs = LogEpochs()
        while true {
            try Task.checkCancellation()
            let poll = try await consumer.poll(max: 1000, timeout: .milliseconds(100))
            guard !poll.messages.isEmpty else { continue }
            retries.succeeded()
            // What is sent again is for consumers; whoever looks on has been told of it once.
            let events = poll.messages.compactMap { try? EventHeaders.event(in: $0).get() }
                .filter { !$0.isReplayed }
            let (admitted, rewind) = epochs.admit(events)
            if !admitted.isEmpty { await receive(admitted) }
            for partition in rewind {
                try await consumer.seek(partition, to: -2)
            }
        }
    }
}

public import EventTypes
public import Kafka
public import Logging
public import ServiceLifecycle

/// Follows topics from their present end and hands on each batch, without storing anything.
///
/// It serves data that is lost with the process anyway, such as streams to connected clients. Every
/// process that runs a tail sees every event; there is no consumer group and no committed offset. A
/// tail is fast but may skip events, so its receiver must detect a gap and fill it from elsewhere.
public struct EventTail: Service {
    /// The time for which a fetch waits for an event.
    ///
    /// A tail serves what other processes have published, and asks a quiet broker no more often.
    private static let fetchWait = Duration.milliseconds(500)

    /// The longest wait for a message, which ends the wait at once.
    private static let pollWait = Duration.seconds(5)
    /// The most messages that are read at once.
    ///
    /// Each takes about two kilobytes until it is known whether anybody wants it.
    private static let batchSizeMax = 250

    private let topics: [Topic]
    private let kafka: KafkaSettings
    private let logger: Logger
    private let isWanted: @Sendable (_ type: EventType, _ key: String) -> Bool
    private let isKnown: @Sendable (EventID) -> Bool
    private let receive: @Sendable ([ReceivedEvent]) async -> Void

    /// Makes a tail.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - topics: The topics it follows.
    ///   - kafka: How to reach the broker.
    ///   - logger: Receives the tail's log messages.
    ///   - isWanted: Whether an event of this type and key is handed on. Others are skipped before
    ///     anything else of them is read.
    ///   - isKnown: Whether the receiver has a wanted event already. Such an event is skipped, too.
    ///   - receive: Takes each batch, in partition order. The next one waits for it.
    public init(
        topics: [Topic],
        kafka: KafkaSettings,
        logger: Logger,
        isWanted: @escaping @Sendable (_ type: EventType, _ key: String) -> Bool = { _, _ in true },
        isKnown: @escaping @Sendable (EventID) -> Bool = { _ in false },
        receive: @escaping @Sendable ([ReceivedEvent]) async -> Void
    ) {
        self.topics = topics
        self.kafka = kafka.waiting(atLeast: Self.fetchWait)
        self.logger = logger
        self.isWanted = isWanted
        self.isKnown = isKnown
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
                try? await retries.pause()  // If cancelled, the loop ends.
            }
        }
    }

    private func follow(with consumer: KafkaConsumer, _ retries: Retries) async throws {
        var epochs = LogEpochs()
        while true {
            try Task.checkCancellation()
            let poll = try await consumer.next(max: Self.batchSizeMax, timeout: Self.pollWait)
            guard !poll.messages.isEmpty else { continue }
            retries.succeeded()
            // Replays are for consumers. A tail has already handed on the original event.
            let events = poll.messages.filter(isWanted)
                .compactMap { try? EventHeaders.event(in: $0).get() }
                .filter { !$0.isReplayed }
            guard !events.isEmpty else { continue }
            let (admitted, rewind) = epochs.admit(events)
            if !admitted.isEmpty { await receive(admitted) }
            for partition in rewind {
                try await consumer.seek(partition, to: .beginning)
            }
        }
    }

    private func isWanted(_ message: KafkaMessage) -> Bool {
        let (type, id) = EventHeaders.typeAndID(of: message)
        guard let key = message.key, let type, let id,
            isWanted(type, String(decoding: key, as: UTF8.self))
        else { return false }
        return !isKnown(id)
    }
}

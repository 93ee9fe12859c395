import ClockAndIDs
import EventTypes
import Kafka
import Logging
import Metrics
import Postgres

/// The loop of ``EventConsumer``: poll, apply, commit.
///
/// After a failure it reads the batch again.
final class ConsumerLoop: Sendable {
    private let name: String
    private let topics: [Topic]
    private let client: PostgresClient
    private let kafka: KafkaSettings
    private let delay: Duration
    private let batchSizeMax: Int
    private let applier: BatchApplier
    private let logger: Logger
    private let retries = Retries()

    init(
        name: String,
        topics: [Topic],
        client: PostgresClient,
        kafka: KafkaSettings,
        delay: Duration = .zero,
        batchSizeMax: Int,
        applier: BatchApplier,
        logger: Logger
    ) {
        self.name = name
        self.topics = topics
        self.client = client
        self.kafka = kafka
        self.delay = delay
        self.batchSizeMax = batchSizeMax
        self.applier = applier
        self.logger = logger
    }

    /// Consumes until cancelled, and replaces a Kafka consumer that fails fatally.
    func run() async throws {
        while !Task.isCancelled {
            let consumer = try KafkaConsumer(
                settings: kafka,
                group: name,
                topics: topics.map(\.name),
                logger: logger
            )
            do {
                try await consume(with: consumer)
            } catch is CancellationError {
                await consumer.close()
                return
            } catch {
                let failures = retries.failed()
                logger.warning(
                    "The consumer stopped and starts again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
            }
            await consumer.close()
            try? await retries.pause()  // If cancelled, the loop ends.
        }
    }

    private func consume(with consumer: KafkaConsumer) async throws {
        var offsets = UncommittedOffsets()
        do {
            try await consume(with: consumer, &offsets)
        } catch {
            // The next consumer of these partitions need not read again what has been applied. If
            // the broker has failed, there is no point in waiting for it.
            if !(error is KafkaError), !offsets.isPostponed { await commit(&offsets, consumer) }
            throw error
        }
    }

    private func consume(
        with consumer: KafkaConsumer,
        _ offsets: inout UncommittedOffsets
    ) async throws {
        var epochs = LogEpochs()
        var mustLoadEpochs = false
        // A batch that failed comes again. Until it is applied, an empty poll is no success.
        var owesBatch = false
        var redriveAt = ContinuousClock.now
        var pace = Pace()
        while true {
            try Task.checkCancellation()
            let poll = try await consumer.poll(max: batchSizeMax, timeout: .milliseconds(100))
            if !poll.assigned.isEmpty {
                logger.debug(
                    "Partitions assigned",
                    metadata: ["kafka.partitions": "\(poll.assigned.count)"]
                )
            }
            offsets.forget(poll.revoked)
            do {
                mustLoadEpochs = mustLoadEpochs || !poll.assigned.isEmpty
                if mustLoadEpochs {
                    epochs.load(try await applier.storedEpochs())
                    mustLoadEpochs = false
                }
                if ContinuousClock.now >= redriveAt {
                    redriveAt = .now + .seconds(1)
                    try await applier.redrive()
                    if poll.messages.isEmpty, !owesBatch { retries.succeeded() }
                }
                if !poll.messages.isEmpty {
                    try await waitForAge(of: poll.messages)
                    pace.begin()
                    let rewound = try await handle(poll.messages, &epochs, consumer)
                    offsets.add(poll.messages, except: rewound, at: .now)
                    owesBatch = false
                    retries.succeeded()
                }
                if offsets.areDue(isIdle: poll.messages.isEmpty, at: .now) {
                    await commit(&offsets, consumer)
                }
                guard !poll.messages.isEmpty else { continue }
                if poll.messages.count < batchSizeMax { try await pace.rest() }
            } catch let error where isPassing(error) {
                let failures = retries.failed()
                logger.warning(
                    "A batch could not be applied yet; it is read again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
                owesBatch = owesBatch || !poll.messages.isEmpty
                try await rewind(to: poll.messages, consumer)
                try await retries.pause()
            }
        }
    }

    /// Waits until the newest message has the age at which events are applied.
    private func waitForAge(of messages: [KafkaMessage]) async throws {
        guard delay > .zero else { return }
        let newest = messages.map(\.timestampMilliseconds).max() ?? 0
        let age = Timestamp.wallClock()
            .duration(since: Timestamp(millisecondsSinceEpoch: max(newest, 0)))
        // The broker's clock may be ahead of this one.
        let wait = min(delay - age, delay)
        if wait > .zero { try await Task.sleep(for: wait) }
    }

    /// Applies messages.
    ///
    /// - Returns: The partitions that turned out to be new logs, which are now read from their
    ///   beginning.
    private func handle(
        _ messages: [KafkaMessage],
        _ epochs: inout LogEpochs,
        _ consumer: KafkaConsumer
    ) async throws -> Set<KafkaTopicPartition> {
        var events: [ReceivedEvent] = []
        events.reserveCapacity(messages.count)
        var malformed: [(KafkaMessage, MalformedMessage)] = []
        for message in messages {
            switch EventHeaders.event(in: message) {
            case .success(let event) where (event.onlyConsumer ?? name) != name: continue
            case .success(let event): events.append(event)
            case .failure(let problem): malformed.append((message, problem))
            }
        }
        var next = epochs
        let (admitted, partitionsToRewind) = next.admit(events)
        try await applier.apply(admitted, malformed: malformed)
        epochs = next
        for partition in partitionsToRewind {
            logger.warning(
                "The partition is a new log; it is read from its beginning",
                metadata: ["kafka.partition": "\(partition.topic)/\(partition.partition)"]
            )
            try await consumer.seek(partition, to: -2)
        }
        return partitionsToRewind
    }

    /// Commits offsets.
    ///
    /// A refusal by the broker is harmless: the messages come again, and the inbox recognises them.
    private func commit(_ offsets: inout UncommittedOffsets, _ consumer: KafkaConsumer) async {
        guard !offsets.next.isEmpty else { return }
        do throws(KafkaError) {
            try await consumer.commit(offsets.next)
            offsets.settle()
        } catch {
            logger.info(
                "Offsets were not committed; the events will come again and be recognised",
                metadata: ["error": "\(error)"]
            )
            // If the partition was assigned to another consumer, that consumer commits its offsets.
            // If the topic was deleted, its offset must not be committed to a new topic of the same
            // name.
            if error.isRetriable, error.code != .unknownTopic {
                offsets.postpone(at: .now)
            } else {
                offsets.settle()
            }
        }
    }

    private func rewind(to messages: [KafkaMessage], _ consumer: KafkaConsumer) async throws {
        var first: [KafkaTopicPartition: Int64] = [:]
        for message in messages {
            let partition = message.topicPartition
            first[partition] = min(first[partition] ?? .max, message.offset)
        }
        for (partition, offset) in first {
            try await consumer.seek(partition, to: offset)
        }
    }

    /// Whether an error may pass by itself and is neither a cancellation nor an error of Kafka.
    private func isPassing(_ error: any Error) -> Bool {
        !(error is CancellationError) && !(error is KafkaError)
    }
}

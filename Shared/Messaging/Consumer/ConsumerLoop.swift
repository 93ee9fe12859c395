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
    private let name: ServiceName
    private let topics: [Topic]
    private let client: PostgresClient
    private let clock: ProcessClock?
    private let kafka: KafkaSettings
    private let delay: Duration
    private let batchSizeMax: Int
    private let applier: BatchApplier
    private let logger: Logger
    private let retries = Retries()
    private let group: String
    private let unassigned: Gauge

    init(
        name: ServiceName,
        topics: [Topic],
        client: PostgresClient,
        clock: ProcessClock? = nil,
        kafka: KafkaSettings,
        delay: Duration = .zero,
        batchSizeMax: Int,
        applier: BatchApplier,
        logger: Logger
    ) {
        self.name = name
        self.topics = topics
        self.client = client
        self.clock = clock
        self.kafka = kafka
        self.delay = delay
        self.batchSizeMax = batchSizeMax
        self.applier = applier
        self.logger = logger
        group = topics.first?.group(of: name) ?? name.rawValue
        unassigned = Gauge(label: "consumer_unassigned_seconds", dimensions: [("group", group)])
    }

    /// Consumes until cancelled, and replaces a Kafka consumer that fails fatally.
    func run() async throws {
        while !Task.isCancelled {
            let consumer = try KafkaConsumer(
                settings: kafka,
                group: group,
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
            if !(error is KafkaError), !offsets.isPostponed { await commitLast(&offsets, consumer) }
            throw error
        }
    }

    private func consume(
        with consumer: KafkaConsumer,
        _ offsets: inout UncommittedOffsets
    ) async throws {
        var reading = Reading()
        // A batch that failed comes again. Until it is applied, an empty poll is no success.
        var owesBatch = false
        var redrives = RedriveLooks(at: .now)
        var pace = Pace()
        var wait = PartitionWait()
        var passive = PassiveMessages(
            besides: applier.handler.eventTypes,
            countMax: batchSizeMax / 2
        )
        var awaitsPartitions = true
        while true {
            try Task.checkCancellation()
            // A message ends the wait at once. A short wait is needed only if something is to be
            // done when no message comes.
            let isIdle = offsets.areSettled && reading.held.first.isEmpty
            let patience = awaitsPartitions ? Duration.milliseconds(500) : .seconds(5)
            let timeout =
                isIdle ? redrives.wait(atMost: patience, from: .now) : .milliseconds(100)
            let poll = try await consumer.next(
                max: batchSizeMax - passive.count,
                timeout: passive.count == 0 ? timeout : PassiveMessages.patience
            )
            awaitsPartitions = poll.awaitsPartitions
            tell(of: poll, &wait)
            if let answer = poll.commitAnswer { note(answer, &offsets) }
            offsets.forget(poll.revoked)
            reading.forget(poll.revoked)
            reading.unplaced.formUnion(poll.assigned)
            var messages = passive.take(except: poll.revoked) + poll.messages
            do {
                try await begin(&reading, &messages, consumer)
                if passive.keep(messages, at: .now) { continue }
                if redrives.areDue(at: .now) {
                    let lettersWait = try await applier.redrive()
                    redrives.looked(lettersWait: lettersWait, at: .now)
                    if messages.isEmpty, !owesBatch { retries.succeeded() }
                }
                if !messages.isEmpty {
                    try await waitForAge(of: messages)
                    redrives.applies(at: .now)
                    pace.begin()
                    let rewound = try await handle(messages, &reading, consumer)
                    offsets.add(messages, except: rewound, holding: reading.held.first, at: .now)
                    owesBatch = false
                    retries.succeeded()
                }
                if offsets.areDue(isIdle: messages.isEmpty, at: .now) {
                    await beginCommit(&offsets, consumer)
                }
                guard !messages.isEmpty else { continue }
                if messages.count < batchSizeMax {
                    try await pace.rest(afterBatchOf: messages.count)
                }
            } catch let error where isPassing(error) {
                let failures = retries.failed()
                logger.warning(
                    "A batch could not be applied yet; it is read again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
                owesBatch = owesBatch || !messages.isEmpty
                try await rewind(to: messages, consumer)
                try await retries.pause()
            }
        }
    }

    /// Logs that partitions were assigned, and that the group has not assigned any for long.
    private func tell(of poll: KafkaPoll, _ wait: inout PartitionWait) {
        if !poll.assigned.isEmpty {
            logger.debug(
                "Partitions assigned",
                metadata: ["kafka.partitions": "\(poll.assigned.count)"]
            )
        }
        let (length, notice) = wait.note(poll.awaitsPartitions, at: .now)
        unassigned.record(length / .seconds(1))
        switch notice {
        case .waits:
            logger.warning(
                "The group assigns no partitions to this consumer",
                metadata: [
                    "kafka.group": "\(group)", "waited.seconds": "\(length.components.seconds)",
                    "todo": """
                    Check that the broker answers and that the group forms: kafka-consumer-groups.sh \
                    --describe --state. Nothing is lost; the events wait in their topics.
                    """,
                ]
            )
        case .isOver:
            logger.notice(
                "The group assigns partitions to this consumer again",
                metadata: ["kafka.group": "\(group)"]
            )
        case nil: break
        }
    }

    /// Waits until the newest message has the age at which events are applied.
    private func waitForAge(of messages: [KafkaMessage]) async throws {
        guard delay > .zero else { return }
        let newest = messages.map(\.timestampMilliseconds).max() ?? 0
        let age = MachineTime.now()
            .duration(since: MachineTime(millisecondsSinceEpoch: max(newest, 0)))
        // The broker's clock may be ahead of this one.
        let wait = ReadingDelay.wait(atAge: age, untilAge: delay)
        if wait > .zero { try await Task.sleep(for: wait) }
    }

    /// The progress of reading this consumer's partitions.
    private struct Reading {
        var epochs = LogEpochs()
        var held = HeldOffsets()
        /// Partitions that were assigned, and whose beginning has not been compared with the
        /// consumer's own.
        var unplaced: Set<KafkaTopicPartition> = []

        mutating func forget(_ partitions: [KafkaTopicPartition]) {
            held.forget(partitions)
            unplaced.subtract(partitions)
        }
    }

    /// Reads on where this consumer's own database says, if that is before the broker's offset, and
    /// reads early events again.
    ///
    /// The broker's offsets are ahead if the database was restored from a backup.
    ///
    /// - Parameters:
    ///   - reading: How far the partitions are read.
    ///   - messages: Those of partitions that are read from elsewhere are removed.
    ///   - consumer: The consumer.
    /// - Throws: `PostgresError`, `KafkaError`.
    private func begin(
        _ reading: inout Reading,
        _ messages: inout [KafkaMessage],
        _ consumer: KafkaConsumer
    ) async throws {
        var starts: [KafkaTopicPartition: KafkaOffset] = [:]
        if !reading.unplaced.isEmpty {
            let positions = try await applier.storedPositions()
            reading.epochs.load(positions.mapValues(\.epoch))
            for (partition, committed) in try await consumer.committed(reading.unplaced) {
                let next = positions[partition]?.nextOffset ?? 0
                if next < committed { starts[partition] = next == 0 ? .beginning : .at(next) }
            }
            reading.unplaced = []
        }
        starts.merge(reading.held.takeDue(at: .now).mapValues { .at($0) }) { first, _ in first }
        for (partition, offset) in starts {
            try await consumer.seek(partition, to: offset)
            messages.removeAll { $0.topicPartition == partition }
        }
    }

    /// Applies messages.
    ///
    /// - Returns: The partitions that turned out to be new logs, which are now read from their
    ///   beginning.
    private func handle(
        _ messages: [KafkaMessage],
        _ reading: inout Reading,
        _ consumer: KafkaConsumer
    ) async throws -> Set<KafkaTopicPartition> {
        var events: [ReceivedEvent] = []
        events.reserveCapacity(messages.count)
        var malformed: [(KafkaMessage, MalformedMessage)] = []
        for message in messages {
            switch EventHeaders.event(in: message) {
            case .success(let event) where (event.onlyConsumer ?? name.rawValue) != name.rawValue:
                continue
            case .success(let event): events.append(event)
            case .failure(let problem): malformed.append((message, problem))
            }
        }
        var next = reading.epochs
        let (admitted, partitionsToRewind) = next.admit(events)
        try await clock?.catchUp(with: admitted)
        let early = try await applier.apply(
            admitted,
            malformed: malformed,
            held: reading.held.first
        )
        reading.epochs = next
        if reading.held.hold(early, at: .now) {
            logger.log(
                level: reading.held.isLong ? .warning : .info,
                "An event came before the one that precedes it; the partition is read again",
                metadata: [
                    "kafka.offsets": "\(early.map { "\($0.topic)/\($0.partition)/\($1)" })"
                ]
            )
        }
        reading.held.readFromTheBeginning(partitionsToRewind)
        for partition in partitionsToRewind {
            logger.warning(
                "The partition is a new log; it is read from its beginning",
                metadata: ["kafka.partition": "\(partition.topic)/\(partition.partition)"]
            )
            try await consumer.seek(partition, to: .beginning)
        }
        return partitionsToRewind
    }

    /// Begins to commit offsets; a later poll brings the answer.
    private func beginCommit(
        _ offsets: inout UncommittedOffsets,
        _ consumer: KafkaConsumer
    ) async {
        let next = offsets.begin()
        do throws(KafkaError) {
            try await consumer.beginCommit(next)
        } catch {
            note(.failure(error), &offsets)
        }
    }

    /// Notes whether offsets were committed.
    ///
    /// A refusal by the broker is harmless: the messages come again, and are recognised.
    private func note(_ answer: Result<Void, KafkaError>, _ offsets: inout UncommittedOffsets) {
        guard case .failure(let error) = answer else { return offsets.settle() }
        logger.info(
            "Offsets were not committed; the events will come again and be recognised",
            metadata: ["error": "\(error)"]
        )
        // If the partition was assigned to another consumer, that consumer commits its offsets. If the
        // topic was deleted, its offset must not be committed to a new topic of the same name.
        if error.isRetriable, error.code != .unknownTopic {
            offsets.postpone(at: .now)
        } else {
            offsets.settle()
        }
    }

    /// Commits all offsets, and waits for the broker, before the consumer ends.
    private func commitLast(
        _ offsets: inout UncommittedOffsets,
        _ consumer: KafkaConsumer
    ) async {
        let next = offsets.takeAll()
        guard !next.isEmpty else { return }
        do throws(KafkaError) {
            try await consumer.commit(next)
        } catch {
            note(.failure(error), &offsets)
        }
    }

    private func rewind(to messages: [KafkaMessage], _ consumer: KafkaConsumer) async throws {
        var first: [KafkaTopicPartition: Int64] = [:]
        for message in messages {
            let partition = message.topicPartition
            first[partition] = min(first[partition] ?? .max, message.offset)
        }
        for (partition, offset) in first {
            try await consumer.seek(partition, to: .at(offset))
        }
    }

    /// Whether an error may pass by itself and is neither a cancellation nor an error of Kafka.
    private func isPassing(_ error: any Error) -> Bool {
        !(error is CancellationError) && !(error is KafkaError)
    }
}

import ClockAndIDs
import EventTypes
import Kafka
import Logging
import Postgres
import Seals
import Synchronization
import Testing
import TestSupport

@testable import Messaging

/// Replayed events are applied once, only by the consumers they are meant for, and move no
/// consumer's place in the log.
@Suite(.timeLimit(.minutes(10)))
struct EventReplayTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    private static let topic = Topics.fulfillmentTransactions

    private final class Recorder: EventHandler {
        let eventTypes: Set<EventType> = [.queueChanged]
        private let subjects = Mutex<[String]>([])

        var applied: [String] { subjects.withLock { $0 } }

        func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
            subjects.withLock { $0 += events.map(\.subject) }
        }
    }

    /// A log, a broker with the log's topic, and a producer.
    private struct Bench {
        let log: SealedDatabase
        let broker: TestBroker
        let producer: KafkaProducer
        let admin: KafkaAdmin

        /// Publishes or replays rows as messages of one partition, in order.
        func send(_ records: [KafkaRecord]) async throws {
            _ = try await producer.send(records)
        }

        /// Runs a body while a consumer is running.
        func consuming(
            _ name: ServiceName,
            _ handler: Recorder,
            _ body: () async throws -> Void
        ) async throws {
            try await EventConsumer(
                name: name,
                topics: [EventReplayTests.topic],
                handler: handler,
                client: log.client,
                kafka: broker.settings(clientID: name.rawValue),
                logger: EventReplayTests.quiet
            ).running(body)
        }

        /// Waits until a consumer has committed a number of messages.
        func committed(_ count: Int64, by consumer: String) async throws {
            let partition = KafkaTopicPartition(topic: EventReplayTests.topic.name, partition: 0)
            try await eventually("\(consumer) to commit \(count)") {
                let offsets = try await admin.committedOffsets(
                    group: consumer,
                    partitions: [partition]
                )
                return offsets[partition] == count ? true : nil
            }
        }

        /// A consumer's place, with the epoch of the broker's log.
        func place(of consumer: String) async throws -> [String] {
            try await log.client.withConnection { connection in
                try connection.query(
                    """
                    SELECT epoch || ' ' || xid || ':' || place.position
                    FROM consumer_positions JOIN consumer_places AS place USING (consumer, topic)
                    WHERE consumer = \(consumer)
                    """
                ).map { try $0.decode(String.self) }
            }
        }
    }

    private func withBench(_ body: (Bench, [OutboxRow]) async throws -> Void) async throws {
        try await withTestBroker { broker in
            try await SealedDatabase.with { log in
                try await log.append(0..<3)
                let rows = try await log.settled(after: .start)
                let settings = broker.settings()
                let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
                _ = try await admin.createTopics([
                    KafkaTopicDefinition(
                        name: Self.topic.name,
                        partitions: 1,
                        replicationFactor: 1,
                        configuration: [:]
                    )
                ])
                let producer = try KafkaProducer(settings: settings, logger: Self.quiet)
                let running = Task { try await producer.run() }
                defer { running.cancel() }
                try await body(
                    Bench(log: log, broker: broker, producer: producer, admin: admin),
                    rows
                )
                await admin.close()
            }
        }
    }

    private func replay(for consumer: String? = nil, epoch: Int32 = 1) -> EventReplay {
        EventReplay(
            id: EventID(time: StoreTime(millisecondsSinceEpoch: 1)),
            service: "fulfillment",
            epoch: epoch,
            consumer: consumer
        )
    }

    private func replayed(_ rows: [OutboxRow], for consumer: String? = nil) -> [KafkaRecord] {
        rows.map { replay(for: consumer).record(for: $0, previous: nil) }
    }

    private func published(_ rows: [OutboxRow], epoch: Int32) -> [KafkaRecord] {
        rows.map { EventHeaders.record(for: $0, service: "fulfillment", epoch: epoch) }
    }

    @Test func whatWasDoneIsRecognisedAndNoPlaceMovesBack() async throws {
        try await withBench { bench, rows in
            let recorder = Recorder()
            try await bench.consuming(.receipts, recorder) {
                try await bench.send(published(rows, epoch: 2))
                try await bench.committed(3, by: "receipts")
                let place = try await bench.place(of: "receipts")
                #expect(place == ["2 \(rows[2].place)"])
                // These messages were prepared before the broker lost its log, and are sent
                // afterwards.
                try await bench.send(replayed(Array(rows.prefix(2))))
                try await bench.committed(5, by: "receipts")
                #expect(try await bench.place(of: "receipts") == place)
                #expect(recorder.applied == ["0", "1", "2"])
            }
            // The next consumer of the partition still knows the epoch, and reads on.
            try await bench.consuming(.receipts, recorder) {
                try await bench.log.append(3..<4)
                let all = try await bench.log.settled(after: rows[2].place)
                try await bench.send(published(all, epoch: 2))
                try await bench.committed(6, by: "receipts")
                #expect(recorder.applied == ["0", "1", "2", "3"])
            }
        }
    }

    @Test func whatIsForOneConsumerTheOthersPassBy() async throws {
        try await withBench { bench, rows in
            let receipts = Recorder()
            let payments = Recorder()
            try await bench.send(replayed(rows, for: "receipts"))
            try await bench.consuming(.receipts, receipts) {
                try await bench.committed(3, by: "receipts")
            }
            try await bench.consuming(.payments, payments) {
                try await bench.committed(3, by: "payments")
                #expect(payments.applied == [])
                // The event was not marked as applied either: a replay for all consumers is
                // applied.
                try await bench.send(replayed(rows))
                try await bench.committed(6, by: "payments")
            }
            #expect(receipts.applied == ["0", "1", "2"])
            #expect(payments.applied == ["0", "1", "2"])
            #expect(try await bench.place(of: "payments") == [])
        }
    }

    @Test func aReplaySaysNothingAboutWhichLogOfTheBrokerItIs() {
        func event(_ epoch: Int32, offset: Int64, isReplayed: Bool) -> ReceivedEvent {
            ReceivedEvent(
                id: EventID(time: StoreTime(millisecondsSinceEpoch: offset)),
                type: .queueChanged,
                topic: Self.topic.name,
                key: "ada",
                subject: "1",
                time: StoreTime(millisecondsSinceEpoch: 0),
                traceparent: nil,
                data: [],
                partition: 0,
                offset: offset,
                epoch: epoch,
                place: .start,
                isReplayed: isReplayed
            )
        }
        var epochs = LogEpochs()
        _ = epochs.admit([event(2, offset: 7, isReplayed: false)])
        // One replay is of an older epoch, the other of a newer one.
        for epoch: Int32 in [1, 3] {
            let (admitted, rewind) = epochs.admit([event(epoch, offset: 8, isReplayed: true)])
            #expect(admitted.count == 1)
            #expect(rewind.isEmpty)
        }
        #expect(epochs.admit([event(2, offset: 9, isReplayed: false)]).rewind.isEmpty)
        #expect(epochs.admit([event(3, offset: 10, isReplayed: false)]).rewind.count == 1)
    }
}

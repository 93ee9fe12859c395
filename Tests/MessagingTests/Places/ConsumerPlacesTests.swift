import ClockAndIDs
import EventTypes
import Logging
import Postgres
import Seals
import Synchronization
import Testing
import TestSupport

@testable import Kafka
@testable import Messaging

/// A consumer applies each event of a log once, in the order of its chain, and passes over none.
@Suite(.timeLimit(.minutes(10)))
struct ConsumerPlacesTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    private static let topic = Topics.fulfillmentTransactions
    private static let consumer = "receipts"

    /// Records in the consumer's database what was applied, so that a rollback undoes it.
    private struct Recorder: EventHandler {
        let eventTypes: Set<EventType> = [.queueChanged]

        func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
            try connection.execute(
                "INSERT INTO applied (subject) SELECT * FROM unnest(\(events.map(\.subject)))"
            )
        }
    }

    private struct Bench {
        let log: SealedDatabase
        let broker: TestBroker
        let producer: KafkaProducer

        func send(_ records: [KafkaRecord]) async throws {
            _ = try await producer.send(records)
        }

        /// Runs a body while a consumer is running.
        func consuming(
            clock: ProcessClock? = nil,
            delay: Duration = .zero,
            _ body: () async throws -> Void
        ) async throws {
            try await EventConsumer(
                name: .receipts,
                topics: [ConsumerPlacesTests.topic],
                handler: Recorder(),
                client: log.client,
                clock: clock,
                kafka: broker.settings(clientID: "consumer"),
                delay: delay,
                logger: ConsumerPlacesTests.quiet
            ).running(body)
        }

        func applied() async throws -> [String] {
            try await log.client.withConnection { connection in
                try connection.query("SELECT subject FROM applied ORDER BY number")
                    .map { try $0.decode(String.self) }
            }
        }

        /// Waits until these subjects have been applied, in this order, and nothing else.
        func hasApplied(_ subjects: [String]) async throws {
            try await eventually("\(subjects) to be applied") {
                try await applied().count >= subjects.count ? true : nil
            }
            #expect(try await applied() == subjects)
        }

        /// Waits until the consumer has read a partition up to an offset.
        func hasRead(_ partition: Int32 = 0, to offset: Int64) async throws {
            try await eventually("the consumer to read up to \(offset)") {
                try await log.client.withConnection { connection in
                    try connection.query(
                        """
                        SELECT FROM consumer_positions
                        WHERE partition = \(partition) AND next_offset >= \(offset)
                        """
                    ).isEmpty ? nil : true
                }
            }
        }
    }

    private func withBench(
        partitions: Int = 1,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await withTestBroker { broker in
            try await SealedDatabase.with { log in
                try await log.client.withConnection { connection in
                    _ = try connection.execute(
                        """
                        CREATE TABLE applied (
                            number bigserial PRIMARY KEY, subject text NOT NULL,
                            applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
                        )
                        """
                    )
                }
                let settings = broker.settings()
                let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
                _ = try await admin.createTopics([
                    KafkaTopicDefinition(
                        name: Self.topic.name,
                        partitions: partitions,
                        replicationFactor: 1,
                        configuration: [:]
                    )
                ])
                await admin.close()
                let producer = try KafkaProducer(settings: settings, logger: Self.quiet)
                let running = Task { try await producer.run() }
                defer { running.cancel() }
                try await body(Bench(log: log, broker: broker, producer: producer))
            }
        }
    }

    /// Messages as a relay publishes them, each in a given partition.
    private func records(
        _ rows: [OutboxRow],
        _ tips: inout ChainTips,
        partition: Int32 = 0
    ) -> [KafkaRecord] {
        rows.map { row in
            var record = EventHeaders.record(
                for: row,
                service: "fulfillment",
                epoch: 1,
                previous: tips.append(row)
            )
            record.partition = partition
            return record
        }
    }

    /// Messages of a log that begins with these rows.
    private func records(_ rows: [OutboxRow]) -> [KafkaRecord] {
        var tips = ChainTips()
        return records(rows, &tips)
    }

    @Test func whatWasSentBeforeItsPredecessorIsAppliedAfterIt() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<3)
            let records = records(try await bench.log.settled(after: .start))
            try await bench.consuming {
                // A relay could not send the first event, and sends all of them again.
                try await bench.send(Array(records[1...]))
                try await bench.send(records)
                try await bench.hasApplied(["0", "1", "2"])
                try await bench.hasRead(to: 5)
            }
        }
    }

    @Test func aDelayedConsumerAppliesAnEventOnceItIsOldEnough() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<2)
            let records = records(try await bench.log.settled(after: .start))
            let delay = Duration.seconds(1)
            try await bench.consuming(delay: delay) {
                for (number, record) in records.enumerated() {
                    let sentAt = StoreTime.wallClock()
                    try await bench.send([record])
                    try await bench.hasApplied((0...number).map(String.init))
                    let appliedAt = try await bench.log.client.withConnection { connection in
                        try connection.query("SELECT max(applied_at) FROM applied")[0]
                            .decode(StoreTime.self)
                    }
                    #expect(appliedAt.duration(since: sentAt) >= delay)
                }
            }
        }
    }

    @Test func noEventIsAppliedByAClockThatWasSetAndIsBehindIt() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<1)
            let records = records(try await bench.log.settled(after: .start))
            let time = StoreTime(millisecondsSinceEpoch: SealedDatabase.endOfNovember)
            let clock = ProcessClock(client: bench.log.client, waitMax: .milliseconds(50))
            clock.follow(.frozen(at: time.advanced(by: .seconds(-60))), step: 1)
            clock.becomeCurrent()
            try await bench.consuming(clock: clock) {
                try await bench.send(records)
                try await bench.hasApplied(["0"])
                #expect(clock.now == time)
            }
        }
    }

    @Test func anEventInAnotherPartitionWaitsForItsPredecessor() async throws {
        try await withBench(partitions: 2) { bench in
            try await bench.log.append(0..<2)
            let rows = try await bench.log.settled(after: .start)
            var tips = ChainTips()
            // The topic has got more partitions between the two events.
            let before = records([rows[0]], &tips, partition: 0)
            let after = records([rows[1]], &tips, partition: 1)
            try await bench.consuming {
                try await bench.send(after)
                try await bench.hasRead(1, to: 0)
                try await bench.send(before)
                try await bench.hasApplied(["0", "1"])
                try await bench.hasRead(1, to: 1)
            }
        }
    }

    @Test func aRestoredConsumerBeginsAtItsOwnPlaceNotAtTheBrokersOffset() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<4)
            let records = records(try await bench.log.settled(after: .start))
            let spine = ["consumer_places", "consumer_positions", "applied"]
            try await bench.consuming {
                try await bench.send(Array(records[..<1]))
                try await bench.hasApplied(["0"])
            }
            for table in spine {
                _ = try await bench.log.tamper(
                    "CREATE TABLE \(unsafe: table)_backup AS TABLE \(unsafe: table)"
                )
            }
            try await bench.consuming {
                try await bench.send(Array(records[1..<3]))
                try await bench.hasApplied(["0", "1", "2"])
                let admin = try KafkaAdmin(settings: bench.broker.settings(), logger: Self.quiet)
                let partition = KafkaTopicPartition(topic: Self.topic.name, partition: 0)
                try await eventually("the offsets to be committed") {
                    let offsets = try await admin.committedOffsets(
                        group: Self.consumer,
                        partitions: [partition]
                    )
                    return offsets[partition] == 3 ? true : nil
                }
                await admin.close()
            }
            for table in spine {
                _ = try await bench.log.tamper("DELETE FROM \(unsafe: table)")
                _ = try await bench.log.tamper(
                    "INSERT INTO \(unsafe: table) SELECT * FROM \(unsafe: table)_backup"
                )
            }
            try await bench.consuming {
                // No new event has to come for it.
                try await bench.hasApplied(["0", "1", "2"])
                try await bench.send(Array(records[3...]))
                try await bench.hasApplied(["0", "1", "2", "3"])
            }
        }
    }

    @Test func aMemberThatHasLostItsPartitionsAppliesNothingTwice() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<10)
            let rows = try await bench.log.settled(after: .start)
            var tips = ChainTips()
            let events = try rows.enumerated().map { offset, row in
                let record = EventHeaders.record(
                    for: row,
                    service: "fulfillment",
                    epoch: 1,
                    previous: tips.append(row)
                )
                let message = KafkaMessage(
                    topic: record.topic,
                    partition: 0,
                    offset: Int64(offset),
                    key: record.key,
                    value: record.value,
                    headers: record.headers,
                    timestampMilliseconds: 0
                )
                return try EventHeaders.event(in: message).get()
            }
            let applier = BatchApplier(
                consumer: Self.consumer,
                handler: Recorder(),
                client: bench.log.client,
                logger: Self.quiet
            )
            // The first one begins a chain of which no row exists yet.
            for batch in [events[..<1], events[..<5], events[3...]] {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask { _ = try await applier.apply(Array(batch), malformed: []) }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await bench.applied() == (0..<10).map(String.init))
        }
    }

    @Test func newEventsOfARestoredProducerAreNotTakenForLostOnes() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<2)
            let rows = try await bench.log.settled(after: .start)
            var backup = ChainTips()
            let known = records([rows[0]], &backup)
            var tips = backup
            let lost = records([rows[1]], &tips)
            try await bench.consuming {
                try await bench.send(known + lost)
                try await bench.hasApplied(["0", "1"])
                // The backup does not know the second event. Its server is another one, and counts
                // its database transactions from a lower number.
                _ = try await bench.log.tamper("DELETE FROM outbox WHERE subject = '1'")
                _ = try await bench.log.tamper(
                    "UPDATE outbox_base SET base = base - 1000000, server_started_at = '-infinity'"
                )
                try await bench.log.append(2..<3)
                let new = try await bench.log.settled(after: rows[0].place)
                #expect(new.count == 1)
                try await bench.send(records(new, &backup))
                try await bench.hasApplied(["0", "1", "2"])
            }
        }
    }

    @Test func aReplayAppliesWhatALostPlaceOwesAndNothingElse() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<3)
            let rows = try await bench.log.settled(after: .start)
            let replay = EventReplay(
                id: EventID(time: .wallClock()),
                service: "fulfillment",
                epoch: 1,
                consumer: Self.consumer
            )
            let records = try await bench.log.client.withConnection { connection in
                try rows.map { row in
                    let previous = try EventReplay.previous(of: row, on: connection)
                    return replay.record(for: row, previous: previous)
                }
            }
            try await bench.consuming {
                // A part of what the consumer lacks would hide the rest.
                try await bench.send(Array(records[1...]))
                try await bench.send(records + records)
                try await bench.hasApplied(["0", "1", "2"])
            }
        }
    }

    @Test func anEventIsADeadLetterOnceAndARedriveAppliesItOnce() async throws {
        try await withBench { bench in
            try await bench.log.append(0..<3)
            let records = records(try await bench.log.settled(after: .start))
            _ = try await bench.log.tamper(
                "ALTER TABLE applied ADD CONSTRAINT not_yet CHECK (subject <> '0')"
            )
            try await bench.consuming {
                try await bench.send(records + records)
                try await bench.hasRead(to: 6)
                #expect(try await bench.applied() == [])
                let states = try await bench.log.client.withConnection { connection in
                    try connection.query("SELECT state FROM dead_letters ORDER BY id")
                        .map { try $0.decode(String.self) }
                }
                #expect(states == ["dead", "parked", "parked"])
                _ = try await bench.log.tamper("ALTER TABLE applied DROP CONSTRAINT not_yet")
                try await bench.log.client.withConnection { connection in
                    _ = try DeadLetters.requestRedrive(
                        key: "ada",
                        consumer: Self.consumer,
                        by: Act(decidedBy: AdministratorName(unchecked: "mia")),
                        on: connection
                    )
                }
                try await bench.hasApplied(["0", "1", "2"])
                try await bench.send(records)
                try await bench.hasRead(to: 9)
                try await bench.hasApplied(["0", "1", "2"])
            }
        }
    }
}

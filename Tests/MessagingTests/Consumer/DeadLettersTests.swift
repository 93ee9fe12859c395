import ClockAndIDs
import EventTypes
import Foundation
import Postgres
import Seals
import Testing
import TestSupport

@testable import Kafka
@testable import Messaging

/// The table of events that a consumer could not apply.
@Suite(.timeLimit(.minutes(10)))
struct DeadLettersTests {
    private static let consumer = "payments"

    private static func event(data: [UInt8] = Array("{}".utf8)) -> ReceivedEvent {
        let time = StoreTime(millisecondsSinceEpoch: 1_795_237_175_000)
        return ReceivedEvent(
            id: EventID(time: time),
            type: .transactionFinished,
            topic: Topics.fulfillmentTransactions.name,
            key: "ada",
            subject: "1000001",
            time: time,
            data: data
        )
    }

    private func withDeadLetters(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Void
    ) async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient(role: "counterfoil_payments") { client in
                try await client.withTransaction(body)
            }
        }
    }

    private static func record(
        _ event: ReceivedEvent,
        _ state: DeadLetters.State,
        on connection: isolated PostgresConnection
    ) throws {
        try DeadLetters.record(
            event,
            state: state,
            reason: "a test",
            consumer: consumer,
            on: connection
        )
    }

    private static func waiting(
        on connection: isolated PostgresConnection
    ) throws -> DeadLetters.Waiting {
        try DeadLetters.waiting(consumer: consumer, on: connection)
    }

    @Test func whatWaitsBehindADeadEventWaitsForARedrive() async throws {
        try await withDeadLetters { connection in
            #expect(try Self.waiting(on: connection) == .nothing)
            try Self.record(Self.event(), .dead, on: connection)
            try Self.record(Self.event(), .parked, on: connection)
            #expect(try Self.waiting(on: connection) == .letters)
            let count = try DeadLetters.requestRedrive(
                key: "ada",
                consumer: Self.consumer,
                by: Act(decidedBy: AdministratorName(unchecked: "mia")),
                on: connection
            )
            #expect(count == 2)
            #expect(try Self.waiting(on: connection) == .redrive)
        }
    }

    @Test func whatWasParkedWhileItsKeyWasRedrivenGoesOnByItself() async throws {
        try await withDeadLetters { connection in
            let parked = Self.event()
            try Self.record(parked, .parked, on: connection)
            #expect(try Self.waiting(on: connection) == .redrive)
            let next = try DeadLetters.nextRedrive(consumer: Self.consumer, on: connection)
            #expect(next.map(\.id) == [parked.id])
        }
    }

    @Test func aRedriveThatFailsAgainIsNotTriedForEver() async throws {
        try await withDeadLetters { connection in
            try Self.record(Self.event(), .parked, on: connection)
            try DeadLetters.refuseRedrive(
                key: "ada",
                reason: "again",
                consumer: Self.consumer,
                on: connection
            )
            #expect(try Self.waiting(on: connection) == .letters)
            let letters = try connection.query("SELECT state, reason FROM dead_letters")
                .map { try $0.decode(String.self, String.self) }
            #expect(letters.map(\.0) == ["dead"])
            #expect(letters.map(\.1) == ["again"])
        }
    }

    @Test func anEventTooLargeForAMessageIsInTheTableOnly() async throws {
        try await withDeadLetters { connection in
            let data = [UInt8](repeating: 0x20, count: 900_000)
            try Self.record(Self.event(data: data), .dead, on: connection)
            let sizes = try connection.query(
                "SELECT length(data), (SELECT length(data) FROM dead_letters) FROM outbox"
            ).first?.decode(Int64.self, Int64.self)
            #expect(try #require(sizes).0 < 1000)
            #expect(sizes?.1 == 900_000)
        }
    }

    @Test func aMessageWithAZeroInItsKeyOrAHeaderIsNoEvent() {
        let row = OutboxRow(
            place: LogPlace(xid: 7, position: 8),
            event: OutboxEvent(
                id: EventID(time: StoreTime(millisecondsSinceEpoch: 1)),
                type: .queueChanged,
                topic: Topics.fulfillmentTransactions,
                key: "ada",
                subject: "1",
                time: StoreTime(millisecondsSinceEpoch: 1),
                data: Array("{}".utf8)
            )
        )
        let record = EventHeaders.record(for: row, service: "fulfillment", epoch: 1)
        func isEvent(_ change: (inout KafkaMessage) -> Void) -> Bool {
            var message = KafkaMessage(
                topic: record.topic,
                partition: 0,
                offset: 0,
                key: record.key,
                value: record.value,
                headers: record.headers,
                timestampMilliseconds: 0
            )
            change(&message)
            return (try? EventHeaders.event(in: message).get()) != nil
        }
        #expect(isEvent { _ in })
        #expect(!isEvent { $0.key = [0x61, 0] })
        #expect(!isEvent { $0.headers[5].value.append(0) })
    }

    @Test func aTopicDropsNothingForItsAge() {
        let kept = TopicSettings.configuration(isCompacted: false)
        #expect(kept["retention.ms"] == "-1")
        #expect(kept["retention.bytes"] == "-1")
        #expect(TopicSettings.configuration(isCompacted: true) == ["cleanup.policy": "compact"])
    }
}

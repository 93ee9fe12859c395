import EventTypes
import Kafka
import Logging
import Postgres
import Seals
import Testing
import TestSupport

@testable import Messaging

/// A relay that sends on while the broker has not answered yet.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct SendingAheadTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    private static let topic = Topics.fulfillmentTransactions

    @Test func thePlaceMovesOnlyOnceTheBrokerHasAnswered() async throws {
        let port = try freePort()
        let broker = try await TestBroker.start(advertisedPort: port)
        let proxy = try await KafkaProxy.start(inFrontOf: broker.port, on: port)
        do {
            try await SealedDatabase.with { log in try await sendAhead(log, broker, proxy) }
        } catch {
            await proxy.cut()
            await broker.kill()
            throw error
        }
        await proxy.cut()
        await broker.kill()
    }

    private func sendAhead(
        _ log: SealedDatabase,
        _ broker: TestBroker,
        _ proxy: KafkaProxy
    ) async throws {
        let leadership = RelayLeadership(
            service: "fulfillment",
            topics: [Self.topic],
            client: log.client,
            kafka: broker.settings(clientID: "ahead"),
            topicSettings: TopicSettings(
                partitions: 1,
                replicationFactor: broker.replicationFactor
            ),
            signal: Signal(),
            logger: Self.quiet
        )
        try await leadership.checkTopics()
        let held = proxy.hold(at: .beforeResponse(.produce, client: "ahead"))
        let lead = try await log.takeLead()
        let leading = Task { try await leadership.run(lead) }
        try await log.append(0..<3)
        leadership.wake()
        try await held.reached()
        try await log.append(3..<6)
        leadership.wake()
        #expect(try await subjects(6, broker) == (0..<6).map(String.init))
        let before = try await published(log)
        #expect(before == .start)
        held.release()
        try await eventually("the place behind all rows") {
            let last = try await log.settled(after: .start).last?.place
            let place = try await published(log)
            return place == last ? () : nil
        }
        leading.cancel()
        _ = try? await leading.value  // Cancelled.
        let report = try await log.check()
        #expect(report.unsealedRows == 0)
        // The events have times of last year.
        #expect(report.findings.allSatisfy { $0.kind == .lateSeal })
    }

    private func published(_ log: SealedDatabase) async throws -> LogPlace {
        try await log.client.withConnection { try RelayStore.published(on: $0) }
    }

    /// The subjects of the first events in the broker, once there are so many.
    private func subjects(_ count: Int, _ broker: TestBroker) async throws -> [String] {
        let partition = KafkaTopicPartition(topic: Self.topic.name, partition: 0)
        let consumer = try KafkaConsumer(
            settings: broker.settings(clientID: "reader"),
            reading: [partition: 0],
            logger: Self.quiet
        )
        var subjects: [String] = []
        while subjects.count < count {
            let poll = try await consumer.poll(max: 100, timeout: .milliseconds(100))
            subjects += try poll.messages.map { try EventHeaders.event(in: $0).get().subject }
        }
        await consumer.close()
        return subjects
    }
}

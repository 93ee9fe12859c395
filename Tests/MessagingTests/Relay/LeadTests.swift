import EventTypes
import Kafka
import Logging
import Postgres
import Synchronization
import Testing
import TestSupport

@testable import Messaging
@testable import Seals

/// A relay that has lost its lead and does not know it yet.
@Suite(.timeLimit(.minutes(10)))
struct LeadTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    private static let topic = Topics.fulfillmentTransactions

    private func progress(
        _ log: SealedDatabase,
        epoch: Int32 = 1
    ) async throws -> (RelayProgress, [LogSeal]) {
        let rows = try await log.settled(after: .start)
        let last = try #require(rows.last).place
        var heads = SealHeads([])
        let partition = KafkaTopicPartition(topic: Self.topic.name, partition: 0)
        return (
            RelayProgress(
                published: last,
                confirmed: .start,
                epoch: epoch,
                lastOffsets: [partition: 7]
            ), heads.seal(SealedRow.sealing(rows))
        )
    }

    /// Everything that a relay writes.
    private func written(_ log: SealedDatabase) async throws -> [String] {
        try await log.client.withConnection { connection in
            try connection.query(
                """
                SELECT 'place ' || epoch || ' ' || xid || ':' || position || ' ' || confirmed_xid
                FROM relay_place
                UNION ALL SELECT 'offset ' || topic || partition || ' ' || last_offset
                FROM relay_offsets
                UNION ALL SELECT 'seal ' || month || number FROM log_seals
                ORDER BY 1
                """
            ).map { try $0.decode(String.self) }
        }
    }

    @Test func onlyTheNewestLeaderMovesThePlace() async throws {
        try await SealedDatabase.with { log in
            try await log.append(0..<5)
            let (progress, seals) = try await progress(log)
            let old = try await log.takeLead()
            let new = try await log.takeLead()
            #expect(new.term == old.term + 1)
            let before = try await written(log)
            let touched = Array(progress.lastOffsets.keys)
            let refusal = await #expect(throws: MessagingError.self) {
                try await log.client.withConnection { connection in
                    try RelayStore.save(
                        progress,
                        by: old,
                        touched: touched,
                        seals: seals,
                        on: connection
                    )
                }
            }
            #expect(refusal?.code == .leadLost)
            #expect(try await written(log) == before)
            try await log.client.withConnection { connection in
                try RelayStore.save(
                    progress,
                    by: new,
                    touched: touched,
                    seals: seals,
                    on: connection
                )
            }
            let after = try await written(log)
            #expect(after.count > before.count)
            // Nor does it delete the newer leader's offsets when it believes that the log is lost.
            let lost = await #expect(throws: MessagingError.self) {
                try await log.client.withTransaction { connection in
                    try RelayStore.saveAfterLoss(progress, by: old, on: connection)
                }
            }
            #expect(lost?.code == .leadLost)
            #expect(try await written(log) == after)
        }
    }

    @Test func theNextLeaderWaitsForAWriteUnderWay() async throws {
        try await SealedDatabase.with { log in
            let old = try await log.takeLead()
            let (isUnderWay, underWay) = AsyncStream.makeStream(of: Void.self)
            let order = Mutex<[String]>([])
            let write = Task {
                try await log.client.withTransaction { connection in
                    try LeadStore.require(old, on: connection)
                    underWay.finish()
                    _ = try connection.query("SELECT pg_sleep(0.5)")
                    order.withLock { $0.append("write") }
                }
            }
            for await _ in isUnderWay {}
            let new = try await log.takeLead()
            order.withLock { $0.append("take-over") }
            try await write.value
            #expect(order.withLock { $0 } == ["write", "take-over"])
            #expect(new.term == old.term + 1)
            await #expect(throws: MessagingError.self) {
                try await log.client.withTransaction { connection in
                    try LeadStore.require(old, on: connection)
                }
            }
        }
    }

    @Test func whatAnOldLeaderPublishesLateHasNoEffect() async throws {
        let port = try freePort()
        let broker = try await TestBroker.start(advertisedPort: port)
        let proxy = try await KafkaProxy.start(inFrontOf: broker.port, on: port)
        do {
            try await SealedDatabase.with { log in
                let held = proxy.hold(at: .beforeRequest(.produce, client: "old"))
                try await log.append(0..<10)
                let old = try await log.takeLead()
                let hung = Task { try await relay(log, broker, "old").run(old) }
                try await held.reached()

                let new = try await log.takeLead()
                let leading = Task { try await relay(log, broker, "new").run(new) }
                try await log.append(10..<20)
                let place = try await eventually("the new leader to publish all") {
                    let rows = try await log.settled(after: .start)
                    let place = try await log.client.withConnection {
                        try RelayStore.progress(on: $0).published
                    }
                    return rows.count == 20 && rows.last?.place == place ? place : nil
                }
                // The old leader's records reach the broker after all later ones.
                held.release()
                let refusal = await #expect(throws: MessagingError.self) { try await hung.value }
                #expect(refusal?.code == .leadLost)
                let now = try await log.client.withConnection {
                    try RelayStore.progress(on: $0).published
                }
                #expect(now == place)
                leading.cancel()
                _ = try? await leading.value  // Cancelled.

                let applied = try await consumed(30, log, broker)
                #expect(applied == (0..<20).map(String.init))
            }
        } catch {
            await proxy.cut()
            await broker.kill()
            throw error
        }
        await proxy.cut()
        await broker.kill()
    }

    /// Consumes messages, and returns the subjects of the events that were applied.
    private func consumed(
        _ messages: Int64,
        _ log: SealedDatabase,
        _ broker: TestBroker
    ) async throws -> [String] {
        let handler = AppliedSubjects()
        let consumer = EventConsumer(
            name: .receipts,
            topics: [Self.topic],
            handler: handler,
            client: log.client,
            kafka: broker.settings(clientID: "consumer"),
            logger: Self.quiet
        )
        let work = Task { try await consumer.run() }
        defer { work.cancel() }
        let admin = try KafkaAdmin(settings: broker.settings(), logger: Self.quiet)
        let partition = KafkaTopicPartition(topic: Self.topic.name, partition: 0)
        let outcome: Result<Void, any Error>
        do {
            try await eventually("\(messages) messages to be consumed") {
                let committed = try await admin.committedOffsets(
                    group: "receipts",
                    partitions: [partition]
                )[partition]
                return committed == messages ? () : nil
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        await admin.close()
        try outcome.get()
        return handler.subjects
    }

    private func relay(
        _ log: SealedDatabase,
        _ broker: TestBroker,
        _ clientID: String
    ) async throws -> RelayLeadership {
        let settings = broker.settings(clientID: clientID)
        // What is held stays sendable until the test lets it go, however long a busy broker takes for the rest.
        let patience = ["message.timeout.ms": "150000"]
        let leadership = RelayLeadership(
            service: "fulfillment",
            topics: [Self.topic],
            client: log.client,
            kafka: KafkaSettings(
                bootstrapServers: settings.bootstrapServers,
                clientID: settings.clientID,
                properties: settings.properties.merging(patience) { _, new in new }
            ),
            topicSettings: TopicSettings(
                partitions: 1,
                replicationFactor: broker.replicationFactor
            ),
            signal: Signal(),
            logger: Self.quiet
        )
        try await leadership.checkTopics()
        return leadership
    }
}

private final class AppliedSubjects: EventHandler {
    let eventTypes: Set<EventType> = [.queueChanged]
    private let applied = Mutex<[String]>([])

    var subjects: [String] { applied.withLock { $0 } }

    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
        applied.withLock { $0 += events.map(\.subject) }
    }
}

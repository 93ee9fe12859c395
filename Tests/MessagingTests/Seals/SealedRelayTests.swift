import EventTypes
import Kafka
import Logging
import Postgres
import Seals
import ServiceLifecycle
import Testing
import TestSupport

@testable import Messaging

/// The relay seals each published row once, even if another relay seals too, and whatever happens
/// in between.
@Suite(.timeLimit(.minutes(10)))
struct SealedRelayTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

    private func leadership(
        _ log: SealedDatabase,
        _ broker: TestBroker
    ) -> RelayLeadership {
        RelayLeadership(
            service: "fulfillment",
            topics: [Topics.fulfillmentTransactions],
            client: log.client,
            kafka: broker.settings(),
            topicSettings: TopicSettings(partitions: 2, replicationFactor: 1),
            signal: Signal(),
            logger: Self.quiet
        )
    }

    /// Publishes until cancelled, like the relay, but without taking the lock.
    private func lead(_ log: SealedDatabase, _ broker: TestBroker, as lead: Lead) async throws {
        while !Task.isCancelled {
            let leadership = leadership(log, broker)
            do {
                try await leadership.checkTopics()
                try await leadership.run(lead)
            } catch is CancellationError {
                return
            } catch {
                // The other relay has sealed in the meantime, so this one begins again from the
                // stored state.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private func expectSealed(_ log: SealedDatabase, rows: Int64) async throws -> SealReport {
        let report = try await eventually("\(rows) sealed rows") {
            let report = try await log.check()
            let count = report.months.reduce(0) { $0 + $1.rows }
            // The events have times of last year, so every unsealed row counts as late.
            let isWrong = report.findings.contains { $0.kind != .lateSeal }
            return (count == rows && report.unsealedRows == 0) || isWrong ? report : nil
        }
        #expect(report.findings == [])
        #expect(report.months.reduce(0) { $0 + $1.rows } == rows)
        return report
    }

    @Test func writersAtOnceAndAnotherRelayKeepTheChainRight() async throws {
        try await withTestBroker { broker in
            try await SealedDatabase.with { log in
                // Both relays have the same term, so that only the numbers of the seals keep the
                // chain correct.
                let term = try await log.takeLead()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await lead(log, broker, as: term) }
                    group.addTask { try await lead(log, broker, as: term) }
                    try await withThrowingTaskGroup(of: Void.self) { writers in
                        for writer in 0..<3 {
                            writers.addTask {
                                for round in 0..<40 {
                                    let first = writer * 1000 + round * 5
                                    try await log.append(
                                        first..<first + 5,
                                        from: 1_764_545_000_000,
                                        key: "buyer-\(writer)"
                                    )
                                }
                            }
                        }
                        try await writers.waitForAll()
                    }
                    _ = try await expectSealed(log, rows: 600)
                    group.cancelAll()
                }
            }
        }
    }

    @Test func whatIsPublishedAgainAfterTheBrokersLossIsSealedOnce() async throws {
        try await withTestBroker { broker in
            try await SealedDatabase.with { log in
                let term = try await log.takeLead()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await lead(log, broker, as: term) }
                    try await log.append(0..<50)
                    _ = try await expectSealed(log, rows: 50)
                    try await broker.restart()
                    try await eventually("a new log") {
                        let progress = try await log.client.withConnection {
                            try RelayStore.progress(on: $0)
                        }
                        return progress.epoch > 1 && progress.published != .start ? true : nil
                    }
                    try await log.append(50..<80)
                    let report = try await expectSealed(log, rows: 80)
                    #expect(report.unsealedRows == 0)
                    group.cancelAll()
                }
            }
        }
    }

    @Test func whatWasPublishedBeforeThereWereSealsIsSealedFirst() async throws {
        try await withTestBroker { broker in
            try await SealedDatabase.with { log in
                try await log.append(0..<2500)
                let rows = try await log.settled(after: .start, limit: 2400)
                let last = try #require(rows.last).place
                let term = try await log.takeLead()
                try await log.client.withConnection { connection in
                    try RelayStore.save(
                        RelayProgress(published: last, confirmed: last, epoch: 1, lastOffsets: [:]),
                        by: term,
                        touched: [],
                        on: connection
                    )
                }
                let admin = try KafkaAdmin(settings: broker.settings(), logger: Self.quiet)
                _ = try await admin.createTopics([
                    KafkaTopicDefinition(
                        name: Topics.fulfillmentTransactions.name,
                        partitions: 2,
                        replicationFactor: 1,
                        configuration: [:]
                    )
                ])
                await admin.close()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await lead(log, broker, as: term) }
                    try await log.append(2500..<2510)
                    let report = try await expectSealed(log, rows: 2510)
                    #expect(report.unsealedRows == 0)
                    group.cancelAll()
                }
            }
        }
    }
}

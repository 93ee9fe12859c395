import EventTypes
import Kafka
import Logging
import Postgres
import Seals
import Synchronization
import Testing
import TestSupport

@testable import Messaging

/// After success, the next failure is the first again.
@Suite(.timeLimit(.minutes(10)))
struct RetriesTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

    /// Retries after many consecutive failures.
    private func exhausted() -> Retries {
        let retries = Retries()
        for _ in 0..<8 { retries.failed() }
        return retries
    }

    @Test func failuresAreCountedInARow() {
        let retries = Retries()
        #expect([retries.failed(), retries.failed()] == [1, 2])
        retries.succeeded()
        #expect(retries.failures == 0)
        #expect(retries.failed() == 1)
    }

    @Test func aRelayThatPublishesResetsItsPauses() async throws {
        try await withTestBroker { broker in
            try await SealedDatabase.with { log in
                let leadership = RelayLeadership(
                    service: "fulfillment",
                    topics: [Topics.fulfillmentTransactions],
                    client: log.client,
                    kafka: broker.settings(),
                    topicSettings: TopicSettings(
                        partitions: 1,
                        replicationFactor: broker.replicationFactor
                    ),
                    signal: Signal(),
                    logger: Self.quiet
                )
                try await leadership.checkTopics()
                let lead = try await log.takeLead()
                try await log.append(0..<3)
                let retries = exhausted()
                let work = Task { try await leadership.run(lead, retries) }
                try await eventually("the relay to have succeeded") {
                    retries.failures == 0 ? () : nil
                }
                work.cancel()
                _ = try? await work.value  // Cancelled.
            }
        }
    }

    /// Collects the numbers of failures that are logged.
    private final class LoggedFailures: Sendable {
        private let numbers = Mutex<[String]>([])
        var all: [String] { numbers.withLock { $0 } }
        func add(_ number: String) { numbers.withLock { $0.append(number) } }
    }

    private struct Handler: LogHandler {
        let logged: LoggedFailures
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard let failures = event.metadata?["failures"] else { return }
            logged.add("\(failures)")
        }
    }

    @Test func aSealerThatSealsResetsItsPauses() async throws {
        try await SealedDatabase.with { log in
            let logged = LoggedFailures()
            let sealer = LogSealer(
                .outbox,
                client: log.client,
                logger: Logger(label: "tests") { _ in Handler(logged: logged) }
            )
            let work = Task { await sealer.run() }
            for round in 0..<3 {
                try await log.append(round..<round + 1)
                try await eventually("the row to be sealed") {
                    let sealed = try await log.check().months.reduce(0) { $0 + $1.rows }
                    return sealed == round + 1 ? () : nil
                }
                try await log.database.cluster.asSuperuser { connection in
                    _ = try connection.query(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_locks
                        WHERE locktype = 'advisory' AND granted AND database = (
                            SELECT oid FROM pg_database WHERE datname = \(log.database.name)
                        )
                        """
                    )
                }
                try await eventually("the sealer to have failed") {
                    logged.all.count == round + 1 ? () : nil
                }
            }
            work.cancel()
            await work.value
            #expect(logged.all == ["1", "1", "1"])
        }
    }
}

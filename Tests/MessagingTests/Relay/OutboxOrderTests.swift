import ClockAndIDs
import Dispatch
import EventTypes
import Postgres
import Seals
import Testing
import TestSupport

@testable import Messaging

/// The order in which the relay publishes the events of database transactions.
@Suite(.timeLimit(.minutes(10)))
struct OutboxOrderTests {
    private static let accounts = PostgresMigration(
        name: "accounts",
        sql: "CREATE TABLE accounts (id text PRIMARY KEY); INSERT INTO accounts VALUES ('ada')"
    )

    private static func append(
        _ subject: String,
        on connection: isolated PostgresConnection
    ) throws {
        let time = StoreTime(millisecondsSinceEpoch: 1_795_237_175_000)
        let event = OutboxEvent(
            id: EventID(time: time),
            type: .queueChanged,
            topic: Topics.fulfillmentTransactions,
            key: "ada",
            subject: subject,
            time: time,
            data: Array("{}".utf8)
        )
        try Outbox.append([event], on: connection)
    }

    private static func lock(on connection: isolated PostgresConnection) throws {
        _ = try connection.query("SELECT 1 FROM accounts WHERE id = 'ada' FOR UPDATE")
    }

    private static func publishedSubjects(
        _ count: Int,
        _ client: PostgresClient
    ) async throws -> [String] {
        // Database transactions of other tests in the same cluster may delay the rows.
        try await eventually("\(count) settled rows") {
            let rows = try await client.withConnection { connection in
                try EventLog.rows(after: .start, limit: 10, on: connection)
            }
            return rows.count == count ? rows.map(\.event.subject) : nil
        }
    }

    @Test func eventsOfOneKindAndOfSeveralAreStoredAsTheyAre() async throws {
        func event(_ type: EventType, _ topic: Topic, second: Int64) -> OutboxEvent {
            let time = StoreTime(
                millisecondsSinceEpoch: SealedDatabase.endOfNovember + second * 1000
            )
            return OutboxEvent(
                id: EventID(time: time),
                type: type,
                topic: topic,
                key: "ada",
                subject: "1",
                time: time,
                data: Array("{}".utf8)
            )
        }
        let change = (EventType.queueChanged, Topics.fulfillmentQueues)
        let finish = (EventType.transactionFinished, Topics.fulfillmentTransactions)
        let batches = [
            [event(change.0, change.1, second: 0), event(change.0, change.1, second: 0)],
            [event(change.0, change.1, second: 1), event(finish.0, finish.1, second: 2)],
        ]
        try await SealedDatabase.with { log in
            for events in batches {
                try await log.client.withTransaction { try Outbox.append(events, on: $0) }
            }
            let stored = try await log.client.withConnection { connection in
                try EventLog.rows(after: .start, limit: 10, part: .visible, on: connection)
            }.map(\.event)
            let events = Array(batches.joined())
            #expect(stored.map(\.id) == events.map(\.id))
            #expect(stored.map(\.type) == events.map(\.type))
            #expect(stored.map(\.topic) == events.map(\.topic))
            #expect(stored.map(\.time) == events.map(\.time))
        }
    }

    @Test func whoWaitedForTheLockComesLaterThoughItsNumberIsLower() async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments") + [Self.accounts]
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient(poolSize: 3) { client in
                let hasNumber = DispatchSemaphore(value: 0)
                let isLocked = DispatchSemaphore(value: 0)
                async let waiting: Void = client.withTransaction { connection in
                    _ = try connection.query("SELECT pg_current_xact_id()")
                    hasNumber.signal()
                    isLocked.wait()
                    // This waits until the other database transaction has committed.
                    try Self.lock(on: connection)
                    try Self.append("second", on: connection)
                }
                async let holding: Void = client.withTransaction { connection in
                    hasNumber.wait()
                    try Self.lock(on: connection)
                    isLocked.signal()
                    try Self.append("first", on: connection)
                }
                _ = try await (waiting, holding)
                let subjects = try await Self.publishedSubjects(2, client)
                #expect(subjects == ["first", "second"])
            }
        }
    }

    @Test func eventsOfOneDatabaseTransactionStayInOrder() async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    for subject in ["1", "2", "3"] {
                        try Self.append(subject, on: connection)
                    }
                }
                #expect(try await Self.publishedSubjects(3, client) == ["1", "2", "3"])
            }
        }
    }

    /// Runs a body while a database transaction that has a number is open in a database.
    private static func whileTransactionRuns(
        in database: TestDatabase,
        _ body: () async throws -> Void
    ) async throws {
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let isOver = DispatchSemaphore(value: 0)
        try await database.withClient(poolSize: 1) { client in
            async let running: Void = client.withTransaction { connection in
                defer { begun.finish() }
                _ = try connection.query("SELECT pg_current_xact_id()")
                begun.finish()
                isOver.wait()
            }
            for await _ in begins {}
            let result: Result<Void, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            isOver.signal()
            try await running
            try result.get()
        }
    }

    private static func subjectsSettledHere(_ client: PostgresClient) async throws -> [String] {
        try await client.withConnection { connection in
            try EventLog.rowsSettledHere(after: .start, limit: 10, on: connection)
        }.map(\.event.subject)
    }

    @Test func transactionsOfOtherDatabasesHoldNothingBack() async throws {
        let role = "counterfoil_payments"
        let migrations = MessagingMigrations.all(role: role)
        try await withTestDatabase { other in
            try await withTestDatabase(migrations: migrations) { database in
                // As the service, which does not see what other roles' sessions do.
                try await database.withClient(role: role) { client in
                    try await Self.whileTransactionRuns(in: other) {
                        try await client.withTransaction { connection in
                            try Self.append("1", on: connection)
                        }
                        let settled = try await client.withConnection { connection in
                            try EventLog.rows(after: .start, limit: 10, on: connection)
                        }
                        #expect(settled.isEmpty)
                        // One that ends while the query runs counts as one of this database.
                        try await eventually("the event to be settled") {
                            try await Self.subjectsSettledHere(client) == ["1"] ? true : nil
                        }
                    }
                }
            }
        }
    }

    /// The seals of published rows would otherwise be about rows that the check does not see.
    @Test func theSealCheckSeesWhatIsPublished() async throws {
        try await withTestDatabase { other in
            try await SealedDatabase.with { log in
                try await Self.whileTransactionRuns(in: other) {
                    try await log.append(1...3)
                    try await log.seal(batch: 3)
                    let report = try await log.check()
                    #expect(report.findings.isEmpty)
                    #expect(report.months.map(\.rows) == [3])
                }
            }
        }
    }

    @Test func transactionsOfTheSameDatabaseHoldLaterEventsBack() async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient { client in
                try await Self.whileTransactionRuns(in: database) {
                    try await client.withTransaction { connection in
                        try Self.append("1", on: connection)
                    }
                    #expect(try await Self.subjectsSettledHere(client).isEmpty)
                }
                try await eventually("the event to be settled") {
                    try await Self.subjectsSettledHere(client) == ["1"] ? true : nil
                }
            }
        }
    }

    @Test func oneLookFindsWhatIsSettledAndWhatIsNot() async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    try Self.append("1", on: connection)
                }
                try await Self.whileTransactionRuns(in: database) {
                    try await client.withTransaction { connection in
                        try Self.append("2", on: connection)
                    }
                    try await Self.expect(["1"], hasMore: true, in: client)
                }
                try await Self.expect(["1", "2"], hasMore: false, in: client)
                try await Self.expect(["1"], hasMore: true, limit: 1, in: client)
            }
        }
    }

    private static func expect(
        _ subjects: [String],
        hasMore: Bool,
        limit: Int = 10,
        in client: PostgresClient
    ) async throws {
        // Database transactions of other tests in the same cluster may delay the rows.
        try await eventually("\(subjects) to be settled, and no others") {
            let next = try await client.withConnection { connection in
                try EventLog.nextRows(after: .start, limit: limit, on: connection)
            }
            let isSo = next.settled.map(\.event.subject) == subjects && next.hasMore == hasMore
            return isSo ? true : nil
        }
    }
}

import ArgumentParser
import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import Testing
import TestSupport

@testable import Operator
@testable import OperatorCore

/// The lag of consumers, by the tables of the spine; one database stands for all four services.
@Suite(.timeLimit(.minutes(10)))
struct LagReaderTests {
    private func withSpine(
        _ body: (TestDatabase, DatabaseOptions) async throws -> Void
    ) async throws {
        let migrations = MessagingMigrations.all(role: "counterfoil_payments")
        try await withTestDatabase(migrations: migrations) { database in
            let url = database.url(role: PostgresCluster.operatorRole)
            let options = try DatabaseOptions.parse([
                "--catalog-database-url", url, "--payments-database-url", url,
                "--receipts-database-url", url, "--fulfillment-database-url", url,
            ])
            try await body(database, options)
        }
    }

    private func run(_ sql: SQL, in database: TestDatabase) async throws {
        _ = try await database.withClient { client in
            try await client.withConnection { connection in try connection.execute(sql) }
        }
    }

    private func append(
        _ count: Int64,
        _ type: EventType,
        in database: TestDatabase
    ) async throws {
        try await run(
            """
            INSERT INTO outbox (event_id, type, topic, key, subject, time, data)
            SELECT gen_random_uuid(), \(type.rawValue), 'payments.transactions', 'ada', '1000001',
                now() - interval '1 h', '{}'
            FROM generate_series(1, \(count))
            """,
            in: database
        )
    }

    private func behind(
        _ consumer: String,
        _ options: DatabaseOptions
    ) async throws -> ConsumerLag? {
        try await LagReader(databases: options.addresses()).all().first {
            $0.consumer == consumer && $0.topic == Topics.paymentsTransactions.name
        }
    }

    @Test func aWaitEndsAfterThreeLooksInARowWithoutAnOpenEvent() async throws {
        try await withSpine { database, options in
            try await run(
                "CREATE TABLE notifications (position bigint, is_asked_for boolean)",
                in: database
            )
            try await run("GRANT SELECT ON notifications TO PUBLIC", in: database)
            let now = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
            var wait = try await AppliedWait(options.addresses())
            var looks: [Bool] = []
            for _ in 0..<2 {
                let open = try await wait.look(at: now)
                #expect(open == [])
                looks.append(wait.isOver)
            }
            try await append(1, .transactionPurchased, in: database)
            let behind = try await wait.look(at: now)
            #expect(behind == ["receipts behind payments.transactions"])
            looks.append(wait.isOver)

            let chain = EventChain(topic: Topics.paymentsTransactions.name, key: "ada").name
            try await run(
                """
                INSERT INTO consumer_places (consumer, topic, chain, xid, position)
                SELECT 'receipts', topic, \(chain), xid, position FROM outbox
                """,
                in: database
            )
            for _ in 0..<3 {
                let open = try await wait.look(at: now)
                #expect(open == [])
                looks.append(wait.isOver)
            }
            #expect(looks == [false, false, false, false, false, true])
        }
    }

    @Test func onlyWhatAConsumerHasToActOnAndHasNotDoneCounts() async throws {
        try await withSpine { database, options in
            try await append(3, .transactionPurchased, in: database)
            try await append(1, .transactionPurchasing, in: database)
            #expect(try await behind("receipts", options)?.events == BoundedCount(3))
            // Fulfillment waits for the receipt instead.
            #expect(try await behind("fulfillment", options)?.events == BoundedCount(1))

            let chain = EventChain(topic: Topics.paymentsTransactions.name, key: "ada").name
            try await run(
                """
                INSERT INTO consumer_places (consumer, topic, chain, xid, position)
                SELECT 'receipts', topic, \(chain), xid, position FROM outbox
                WHERE type = 'transaction.purchased.v1' ORDER BY position LIMIT 1
                """,
                in: database
            )
            #expect(try await behind("receipts", options)?.events == BoundedCount(2))
            try await run(
                """
                INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key, type,
                    subject, time, data, reason, state)
                SELECT 'receipts', event_id, topic, 0, 0, key, type, subject, time, '', 'a test',
                    'dead'
                FROM outbox WHERE type = 'transaction.purchased.v1' ORDER BY position DESC LIMIT 1
                """,
                in: database
            )
            let lag = try await behind("receipts", options)
            #expect(lag?.events == BoundedCount(1))
            let age = try #require(lag?.oldest).duration(since: .wallClock())
            #expect(age < .seconds(-3_590))

            // What every consumer has confirmed is not looked at again.
            try await run(
                """
                UPDATE relay_place SET (confirmed_xid, confirmed_position) =
                    (SELECT xid, position FROM outbox ORDER BY xid DESC, position DESC LIMIT 1)
                """,
                in: database
            )
            #expect(try await behind("receipts", options)?.events == BoundedCount(0))
        }
    }

    @Test func aLongBacklogIsCountedToTenThousand() async throws {
        try await withSpine { database, options in
            try await append(10_000, .transactionPurchased, in: database)
            #expect(try await behind("receipts", options)?.events == BoundedCount(10_000))
            try await append(6_000, .transactionPurchased, in: database)
            #expect(
                try await behind("receipts", options)?.events
                    == BoundedCount(10_000, isAtLeast: true)
            )
        }
    }

    @Test func deadLettersOfEachStateAreCountedToTenThousand() async throws {
        try await withSpine { database, options in
            try await run(
                """
                INSERT INTO dead_letters (
                    consumer, event_id, topic, partition, "offset", key, type, subject, time, data,
                    reason, state
                )
                SELECT 'receipts', gen_random_uuid(), 'catalog.products', 0, n, 'a key', 'a type',
                    '', now(), '', 'a reason', CASE n WHEN 10002 THEN 'dead' ELSE 'parked' END
                FROM generate_series(1, 10002) AS n
                """,
                in: database
            )
            let status = try await DatabaseReader.read(options.address(of: .catalog)) {
                try StatusStore.status(of: .catalog, on: $0)
            }
            #expect(status.dead == 1)
            #expect(status.parked == 10_000)
        }
    }

    @Test func whatIsYetToBePublishedIsTheDepthOfTheOutbox() async throws {
        try await withSpine { database, options in
            try await append(5, .transactionPurchased, in: database)
            try await run(
                """
                UPDATE relay_place SET (xid, position) =
                    (SELECT xid, position FROM outbox ORDER BY xid, position OFFSET 1 LIMIT 1)
                """,
                in: database
            )
            let status = try await DatabaseReader.read(options.address(of: .catalog)) {
                try StatusStore.status(of: .catalog, on: $0)
            }
            #expect(status.outbox.count == 3)
            #expect(status.outbox.oldest != nil)
            #expect(status.schema.hasPrefix("messaging_m"))
        }
    }
}

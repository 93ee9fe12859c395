import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import StoreTracing
import TestSupport
import Testing

@testable import OperatorCore

/// The look-ups of ids and words that somebody has pasted.
@Suite(.timeLimit(.minutes(10)))
struct IDSearchTests {
    private static let time = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    /// The columns that are read, as the services have them.
    private static let tables = PostgresMigration(
        name: "m0001_search",
        sql: """
            CREATE TABLE products (id text PRIMARY KEY);
            CREATE TABLE code_campaigns (id bigint PRIMARY KEY, word text);
            CREATE TABLE families (id text PRIMARY KEY, data json);
            CREATE TABLE processor_disputes (dispute_id text PRIMARY KEY, transaction_id bigint);
            CREATE TABLE notifications (id uuid PRIMARY KEY, transaction_id bigint);
            CREATE TABLE processor_attempts (
                transaction_id bigint, kind text, number integer, attempt_id uuid, reference text,
                failed_reference text, PRIMARY KEY (transaction_id, kind, number)
            );
            CREATE TABLE processor_movements (
                movement_id text PRIMARY KEY, number integer UNIQUE, source text, payment text,
                attempt_id uuid
            );
            """
    )

    private func withTables(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Void
    ) async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.tables]
        ) { database in
            try await database.withClient { client in
                try await client.withTransaction { try body($0) }
            }
        }
    }

    @Test func productsAndFamiliesAreFoundByTheirIDs() async throws {
        let family = Family(
            id: FamilyID(unchecked: "0f8fad5b-d9cb-469f-a165-70867728950e"),
            bundleID: BundleID(unchecked: "app"),
            version: 1,
            organizer: AccountID(unchecked: "ada"),
            members: [],
            createdAt: Self.time
        )
        let data = try PostgresJSON(encoding: family)
        try await withTables { connection in
            _ = try connection.execute("INSERT INTO products VALUES ('coins')")
            _ = try connection.execute("INSERT INTO families VALUES (\(family.id), \(data))")
            let coins = try IDSearchStore.knows(ProductID(unchecked: "coins"), on: connection)
            let gems = try IDSearchStore.knows(ProductID(unchecked: "gems"), on: connection)
            #expect(coins && !gems)
            let found = try IDSearchStore.organizer(of: family.id, on: connection)
            #expect(found == family.organizer)
            let none = try IDSearchStore.organizer(
                of: FamilyID(unchecked: "7c9e6679-7425-40de-944b-e07fc1f90ae7"),
                on: connection
            )
            #expect(none == nil)
        }
    }

    @Test func aCampaignIsFoundByItsNumberAndTheNewestByItsWord() async throws {
        try await withTables { connection in
            _ = try connection.execute(
                """
                INSERT INTO code_campaigns VALUES (1, 'SPRING'), (2, NULL), (3, 'SPRING'), (4, NULL)
                """
            )
            let known = try IDSearchStore.knows(campaign: 2, on: connection)
            let other = try IDSearchStore.knows(campaign: 5, on: connection)
            #expect(known && !other)
            let newest = try IDSearchStore.campaign(of: "SPRING", on: connection)
            #expect(newest == 3)
            let none = try IDSearchStore.campaign(of: "AUTUMN", on: connection)
            #expect(none == nil)
            let late = try IDSearchStore.campaign(of: "SPRING", campaignsMax: 1, on: connection)
            #expect(late == nil, "it has looked at the newest one alone")
        }
    }

    @Test func aNotificationLeadsToWhatItIsAbout() async throws {
        let about = EventID(time: Self.time)
        let test = EventID(time: Self.time)
        try await withTables { connection in
            // A notification that a merchant has asked for as a test is about no transaction.
            _ = try connection.execute(
                "INSERT INTO notifications VALUES (\(about), 1000001), (\(test), NULL)"
            )
            let found = try IDSearchStore.transaction(notifiedBy: about, on: connection)
            #expect(found == TransactionID(number: 1_000_001))
            for id in [test, EventID(time: Self.time)] {
                let none = try IDSearchStore.transaction(notifiedBy: id, on: connection)
                #expect(none == nil)
            }
        }
    }

    @Test func aDisputeLeadsToWhatItIsAbout() async throws {
        try await withTables { connection in
            _ = try connection.execute("INSERT INTO processor_disputes VALUES ('dp_1', 1000001)")
            let found = try IDSearchStore.transaction(disputedBy: "dp_1", on: connection)
            #expect(found == TransactionID(number: 1_000_001))
            let none = try IDSearchStore.transaction(disputedBy: "dp_2", on: connection)
            #expect(none == nil)
        }
    }

    @Test func aChargeOrARefundLeadsToItsPurchase() async throws {
        let (charge, refund) = (EventID(time: Self.time), EventID(time: Self.time))
        let (old, purchase) = (
            TransactionID(number: 1_000_001), TransactionID(number: 1_000_002)
        )
        try await withTables { connection in
            _ = try connection.execute(
                """
                INSERT INTO processor_attempts VALUES
                    (1000001, 'charge', 1, \(EventID(time: Self.time)), 'pi_0', NULL),
                    (1000002, 'charge', 1, \(charge), 'pi_1', NULL),
                    (1000002, 'refund', 1, \(refund), 're_2', 're_1')
                """
            )
            // A fee is of no attempt.
            _ = try connection.execute(
                """
                INSERT INTO processor_movements VALUES
                    ('txn_1', 1, 'ch_1', 'pi_1', \(charge)), ('txn_2', 2, 'fee_1', NULL, NULL)
                """
            )
            // It looks at the newest ones alone.
            let wanted: [(id: String, attemptsMax: Int64, transaction: TransactionID?)] = [
                ("pi_1", 3, purchase), ("re_1", 3, purchase), ("re_2", 3, purchase),
                ("ch_1", 3, purchase), ("txn_1", 3, purchase), ("\(charge)", 3, purchase),
                ("\(refund)", 3, purchase), ("pi_2", 3, nil), ("txn_2", 3, nil),
                ("fee_1", 3, nil), ("ch_", 3, nil), ("pi_0", 3, old), ("pi_0", 2, nil),
            ]
            for (id, attemptsMax, transaction) in wanted {
                let found = try IDSearchStore.transaction(
                    movedBy: id,
                    attemptsMax: attemptsMax,
                    on: connection
                )
                #expect(found == transaction, "\(id) of \(attemptsMax)")
            }
        }
    }

    @Test func aTraceIsFoundAmongTheNewestEvents() async throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let context = try #require(TraceContext("00-\(trace)-00f067aa0ba902b7-01"))
        let wanted = try #require(TraceID(trace))
        let other = try #require(TraceID("4bf92f3577b34da6a3ce929d0e0e4737"))
        try await withTables { connection in
            let events: [(subject: String, traceparent: TraceContext?)] = [
                ("1", context), ("2", nil),
            ]
            for (subject, traceparent) in events {
                let event = OutboxEvent(
                    id: EventID(time: Self.time),
                    type: .transactionPurchased,
                    topic: Topics.paymentsTransactions,
                    key: "ada",
                    subject: subject,
                    time: Self.time,
                    traceparent: traceparent,
                    data: Array("{}".utf8)
                )
                try Outbox.append([event], on: connection)
            }
            let found = try IDSearchStore.event(in: wanted, eventsMax: 2, on: connection)
            #expect(found?.subject == "1" && found?.key == "ada")
            let none = try IDSearchStore.event(in: other, eventsMax: 2, on: connection)
            #expect(none == nil)
            let late = try IDSearchStore.event(in: wanted, eventsMax: 1, on: connection)
            #expect(late == nil, "it has looked at the newest event alone")
        }
    }
}

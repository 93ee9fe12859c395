import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

/// The balances that are kept beside the entries.
@Suite(.timeLimit(.minutes(10)))
struct CreditBalanceTests {
    private static let migration = "fulfillment_m0014_credit_balances"

    /// The balances by account and unit, as they are kept or as the entries add up.
    private func balances(
        _ table: String,
        _ sum: String,
        on client: PostgresClient
    ) async throws -> [String] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT concat_ws(' ', account_id, bundle_id, unit, \(unsafe: sum)::text)
                FROM \(unsafe: table) GROUP BY account_id, bundle_id, unit ORDER BY 1
                """
            ).map { try $0.decode(String.self) }
        }
    }

    private func insert(_ values: String, on client: PostgresClient) async throws {
        try await client.withConnection { connection in
            try connection.execute(
                """
                INSERT INTO credit_entries
                    (transaction_id, account_id, bundle_id, unit, kind, number, amount, created_at)
                SELECT id, account, 'com.example.app', unit, 'grant', 0, amount, now()
                FROM (VALUES \(unsafe: values)) AS entry (id, account, unit, amount)
                ON CONFLICT DO NOTHING
                """
            )
        }
    }

    @Test func balancesAreTheSumsOfTheEntries() async throws {
        let plan: [DeliveryTarget] = [
            .credit(unit: "coins", amount: 100), .credit(unit: "gems", amount: 3),
        ]
        try await withFulfillment { store in
            for number: Int64 in 1...6 {
                let account = number % 2 == 0 ? "alice" : "bob"
                let purchase = Transaction.sample(number, account: account, plan: plan)
                try await store.arrive(purchase, purchase.refunded())
                guard number > 2 else { continue }
                // The log may deliver an event twice.
                for _ in 1...2 { try await store.arrive(purchase.refunded().refundReversed()) }
            }
            #expect(
                try await store.reads.balances(of: .sample()) == ["coins": 200, "gems": 6]
            )
            let kept = try await balances("credit_balances", "sum(balance)", on: store.client)
            #expect(kept.count == 4)
            #expect(
                try await balances("credit_entries", "sum(amount)", on: store.client) == kept
            )
        }
    }

    @Test func aMigrationAddsUpWhatIsThere() async throws {
        let before = FulfillmentMigrations.all.prefix(while: { $0.name != Self.migration })
        try await withTestDatabase(migrations: Array(before)) { database in
            try await database.withClient { client in
                try await insert(
                    "(1, 'ada', 'coins', 5), (2, 'ada', 'coins', -7), (3, 'ben', 'gems', 1)",
                    on: client
                )
                _ = try await PostgresMigrator(
                    url: database.url,
                    migrations: FulfillmentMigrations.all,
                    logger: quiet
                ).migrate()
                // The third entry is there already.
                try await insert("(3, 'ben', 'gems', 1), (4, 'ada', 'coins', 1)", on: client)
                let kept = try await balances("credit_balances", "sum(balance)", on: client)
                #expect(
                    kept == ["ada com.example.app coins -1", "ben com.example.app gems 1"]
                )
            }
        }
    }

    @Test func moreThanABalanceCanShowDoesNotStopPurchases() async throws {
        try await withFulfillment { store in
            for number: Int64 in 1...2 {
                try await store.arrive(
                    .sample(number, plan: [.credit(unit: "coins", amount: .max)])
                )
            }
            let kept = try await balances("credit_balances", "sum(balance)", on: store.client)
            #expect(kept == ["alice com.example.app coins 18446744073709551614"])
        }
    }
}

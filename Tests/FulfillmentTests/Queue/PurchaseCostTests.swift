import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

/// The rows, bytes and write-ahead log that a purchase costs.
@Suite(.timeLimit(.minutes(10)))
struct PurchaseCostTests {
    private let plan: [DeliveryTarget] = [.credit(unit: "coins", amount: 100)]

    /// The rows written since the database was created, by table.
    private func writtenRows(_ store: FulfillmentDatabase) async throws -> [String: Int64] {
        try await store.client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT CASE WHEN relname LIKE 'outbox%' THEN 'outbox' ELSE relname::text END,
                    sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint
                FROM pg_stat_user_tables WHERE relname <> 'schema_migrations'
                GROUP BY 1 HAVING sum(n_tup_ins + n_tup_upd + n_tup_del) > 0
                """
            )
            var written: [String: Int64] = [:]
            for row in rows {
                let (table, count) = try row.decode(String.self, Int64.self)
                written[table] = count
            }
            return written
        }
    }

    @Test func aShortPurchaseWritesEightRows() async throws {
        try await withFulfillment { store in
            let count: Int64 = 200
            try await store.arrive(.sample(1_000_000, plan: plan))
            let before = try await eventually("the statistics of the start") {
                let written = try await writtenRows(store)
                return written["credit_entries"] == 1 ? written : nil
            }
            for number in 1...count {
                try await store.arrive(.sample(number, plan: plan))
                try await store.arrive(.sample(number, version: 1, state: .purchasing, plan: plan))
                try await store.finish(number)
            }
            let after = try await eventually("the statistics of all purchases") {
                let written = try await writtenRows(store)
                return written["outbox"] == (before["outbox"] ?? 0) + 2 * count ? written : nil
            }
            let cost = after.mapValues { $0 }.merging(before.mapValues { -$0 }) { $0 + $1 }
                .mapValues { $0 / count }.filter { $0.value > 0 }
            #expect(
                cost == [
                    "queues": 2, "queue_transactions": 2, "credit_entries": 1,
                    "credit_balances": 1, "outbox": 2,
                ]
            )
        }
    }

    @Test func anEntryOfCreditsIsInOneIndex() async throws {
        try await withFulfillment { store in
            let indexes = try await store.client.withConnection { connection in
                try connection.query(
                    "SELECT indexname FROM pg_indexes WHERE tablename = 'credit_entries'"
                ).map { try $0.decode(String.self) }
            }
            #expect(indexes == ["credits_change_once"])
        }
    }
}

import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Payments

/// The pages of transactions, which many payments fill before one of them is charged.
@Suite(.timeLimit(.minutes(10))) struct TransactionPageTests {
    @Test func aPurchaseStaysInThePageOfItsPayment() async throws {
        try await withStore { store in
            let count = 200
            let replies = try await store.payments.accept(
                (1...count).map {
                    PaymentSubmission(account: alice, idempotencyKey: "\($0)", request: request())
                }
            )
            try #require(replies.count == count)
            let ids = try await store.transactions().map(\.id)
            // All updates of transactions by this session, and those that stayed in their pages.
            let updates = try await store.client.withTransaction { connection -> [Int64] in
                let paid = try TransactionStore.load(ids, on: connection).values.map { record in
                    var record = record
                    record.transaction.version = 2
                    record.transaction.state = .purchased
                    record.transaction.purchasedAt = startTime
                    record.transaction.originalPurchasedAt = startTime
                    return record
                }
                try TransactionStore.update(paid, on: connection)
                let rows = try connection.query(
                    """
                    SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables
                    WHERE relname = 'transactions'
                    """
                )
                guard let row = rows.first else { return [] }
                let (all, inPage) = try row.decode(Int64.self, Int64.self)
                return [all, inPage]
            }
            #expect(updates.first == Int64(count))
            #expect(updates.last ?? 0 >= Int64(count) * 4 / 5)
        }
    }
}

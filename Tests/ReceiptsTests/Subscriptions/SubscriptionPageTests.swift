import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Receipts

/// The pages of the projection of subscriptions.
@Suite(.timeLimit(.minutes(10))) struct SubscriptionPageTests {
    @Test func aRenewalLeavesThePageAndTheIndexesOfItsSubscription() async throws {
        // So many fill several pages, as far as pages are filled.
        let begun = (1...100).map { number in
            var begun = ClubSubscription.begun
            begun.id = TransactionID(number: 3_000_000_000_000 + Int64(number))
            return ClubSubscription.change(begun, .purchased, making: begun.id)
        }
        var renewed = ClubSubscription.renewed
        renewed.id = begun[0].subscription.id
        let renewal = ClubSubscription.change(renewed, .renewed, making: ClubSubscription.second)
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts", poolSize: 2) { client in
                _ = try await client.withTransaction { connection in
                    try SubscriptionStatusStore.save(begun, on: connection).count
                }
                let updates = try await client.withTransaction { connection -> [Int64] in
                    _ = try SubscriptionStatusStore.save([renewal], on: connection)
                    let rows = try connection.query(
                        """
                        SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables
                        WHERE relname = 'subscriptions'
                        """
                    )
                    guard let row = rows.first else { return [] }
                    let (all, withoutIndexes) = try row.decode(Int64.self, Int64.self)
                    return [all, withoutIndexes]
                }
                #expect(updates == [1, 1], "one update, which leaves the indexes")
            }
        }
    }
}

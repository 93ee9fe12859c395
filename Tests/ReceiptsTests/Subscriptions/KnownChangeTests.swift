import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Receipts

/// Which changes of subscriptions were not known before: only they are told to merchants.
@Suite(.timeLimit(.minutes(2))) struct KnownChangeTests {
    @Test func aChangeThatComesAgainIsKnown() async throws {
        let begun = ClubSubscription.change(
            ClubSubscription.begun,
            .purchased,
            making: ClubSubscription.first
        )
        let renewed = ClubSubscription.change(
            ClubSubscription.renewed,
            .renewed,
            making: ClubSubscription.second
        )
        var other = ClubSubscription.begun
        other.id = TransactionID(number: 3_000_000_000_000)
        let beside = ClubSubscription.change(other, .purchased, making: other.id)
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts", poolSize: 2) { client in
                func expect(
                    _ changes: [SubscriptionChanged],
                    toTell causes: [SubscriptionCause]
                ) async throws {
                    let told = try await client.withTransaction { connection in
                        try SubscriptionStatusStore.save(changes, on: connection).map(\.cause)
                    }
                    #expect(told == causes)
                }
                try await expect([begun], toTell: [.purchased])
                try await expect([begun], toTell: [])
                // Of one subscription or of two, and in either order.
                try await expect([begun, renewed], toTell: [.renewed])
                try await expect([renewed, beside], toTell: [.purchased])
                try await expect([renewed, begun, beside], toTell: [])
                try await expect([begun], toTell: [])
            }
        }
    }
}

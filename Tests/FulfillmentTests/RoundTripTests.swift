import EventTypes
import TestSupport
import Testing

@testable import Fulfillment

/// The round trips of `fulfillment` to PostgreSQL.
///
/// Sent one by one, each statement would take a round trip, and COMMIT one more.
@Suite(.timeLimit(.minutes(10))) struct RoundTripTests {
    @Test func aDeliveryTakesThreeRoundTrips() async throws {
        try await withTestDatabase(migrations: FulfillmentMigrations.all) { database in
            try await database.withProxiedClient(role: "counterfoil_fulfillment") { client, proxy in
                let store = FulfillmentDatabase(client: client)
                // The session has prepared every statement after this delivery.
                try await store.arrive(.sample(1, plan: [.credit(unit: "coins", amount: 1)]))
                let tally = proxy.count()
                try await store.arrive(.sample(2, plan: [.credit(unit: "coins", amount: 1)]))

                let delivery = tally.transactions(with: "INTO credit_entries")
                #expect(delivery.map(\.statements.count) == [8])
                #expect(delivery.map(\.roundTrips) == [3])
            }
        }
    }

    @Test func aFinishTakesThreeRoundTrips() async throws {
        try await withTestDatabase(migrations: FulfillmentMigrations.all) { database in
            try await database.withProxiedClient(role: "counterfoil_fulfillment") { client, proxy in
                let store = FulfillmentDatabase(client: client)
                try await store.arrive(.sample(1), .sample(2))
                // The session has prepared every statement after this finish.
                try await store.finish(1)
                let tally = proxy.count()
                try await store.finish(2)

                let finish = tally.transactions(with: "INTO outbox")
                #expect(finish.map(\.statements.count) == [6])
                #expect(finish.map(\.roundTrips) == [3])
            }
        }
    }
}

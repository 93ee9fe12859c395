import TestSupport
import Testing

@testable import Payments

/// The round trips of `payments` to PostgreSQL.
///
/// Sent one by one, each statement would take a round trip, and COMMIT one more.
@Suite(.timeLimit(.minutes(2))) struct RoundTripTests {
    @Test func anAcceptanceAndASettlementTakeTwoRoundTripsEach() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withProxiedClient(role: PaymentsMigrations.role) { client, proxy in
                let store = Store(client: client)
                try await store.sell(product())
                // The session has prepared every statement after this purchase.
                try await store.buy(request(), key: "first")
                let tally = proxy.count()
                try await store.buy(request(), key: "second")

                let acceptance = tally.transactions(with: "INTO transactions")
                // One of them reads what tests of a sandbox want.
                #expect(acceptance.map(\.statements.count) == [9])
                #expect(acceptance.map(\.roundTrips) == [2])
                let settlement = tally.transactions(with: "INTO ledger_postings")
                #expect(settlement.map(\.statements.count) == [7])
                #expect(settlement.map(\.roundTrips) == [2])
            }
        }
    }
}

import EventTypes
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// The round trips of `payments` to PostgreSQL.
///
/// Sent one by one, each statement would take a round trip, and COMMIT one more.
@Suite(.timeLimit(.minutes(10))) struct RoundTripTests {
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

    /// A subscription at the ordinary price, and one with an offer, take one round trip more.
    @Test func aSignedOfferTakesNoMoreRoundTrips() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withProxiedClient(role: PaymentsMigrations.role) { client, proxy in
                let store = Store(client: client)
                try await store.sell(club(promotional: [comeBack]))
                try await store.buy(request("club", price: usd(299)), key: "first")
                // The session has prepared every statement after the first purchase with an offer.
                for month in 1...2 {
                    try await store.lapse()
                    let time = startTime.onMachines.advanced(by: .seconds(month * 31 * 86_400))
                    let discount = try OfferSigner.shared.discount(at: time)
                    let tally = proxy.count()
                    try await store.buy(redeeming(discount), key: "offer \(month)")
                    guard month > 1 else { continue }
                    let acceptance = tally.transactions(with: "INTO offer_nonces")
                    #expect(acceptance.map(\.roundTrips) == [3])
                }
            }
        }
    }

    @Test func aCodeTakesTheRoundTripsOfAnOrdinaryPayment() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withProxiedClient(role: PaymentsMigrations.role) { client, proxy in
                let store = Store(client: client)
                try await store.sell(club(code: spring()))
                let desk = CodeDesk(store)
                let codes = try await desk.codes(2)
                // The session has prepared every statement after these purchases.
                try await desk.buy(codes[0], of: alice)
                try await store.buy(request("club", price: usd(299)), key: "first", of: bob)
                let (carol, dave) = (Self.account("carol"), Self.account("dave"))
                let ticket = try await desk.ticket(of: carol)
                let terms = try await desk.terms(of: codes[1], with: ticket)
                let tally = proxy.count()
                _ = try await desk.confirm(terms, codes[1], ticket)
                try await store.buy(request("club", price: usd(299)), key: "second", of: dave)

                let acceptances = tally.transactions(with: "INTO transactions")
                #expect(acceptances.map(\.roundTrips) == [3, 3])
                // One reads the code, one redeems it, and one notes that no introductory offer is left.
                let counts = acceptances.map(\.statements.count)
                #expect(counts.first.map { $0 - 3 } == counts.last)
                // This process has shown the code, so it reads no ticket.
                #expect(tally.transactions(with: "redemption_").isEmpty)
            }
        }
    }

    private static func account(_ name: String) -> AuthenticatedAccount {
        AuthenticatedAccount(
            accountID: AccountID(unchecked: name),
            bundleID: alice.bundleID
        )
    }
}

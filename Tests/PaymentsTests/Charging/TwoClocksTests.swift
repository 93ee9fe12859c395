import EventTypes
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// A store whose clock was set, on machines whose clocks were not.
@Suite(.timeLimit(.minutes(10))) struct TwoClocksTests {
    private static let year = Duration.seconds(365 * 86_400)

    @Test func aLeaseEndsByTheMachinesClockAndDatesAreThoseOfTheStore() async throws {
        try await withStore { store in
            // The process that accepts it dies before it charges.
            let id = try await store.add(request(), key: "1").id
            store.clock.set(storeAhead: Self.year)
            #expect(try await store.runner.recover() == 0)

            store.clock.advance(by: .seconds(11))
            #expect(try await store.runner.recover() == 1)
            await store.runner.drain()
            let purchased = try await store.load(id)
            #expect(purchased.state == .purchased)
            #expect(purchased.purchasedAt == store.clock.now())
            let postedAt = try await store.client.withConnection { connection in
                try connection.query("SELECT max(posted_at) FROM ledger_postings").first?
                    .decode(StoreTime.self)
            }
            #expect(postedAt == store.clock.now())
        }
    }

    @Test func anApprovalExpiresByTheStoresClock() async throws {
        try await withStore { store in
            let asked = try await store.buy(request(method: .needsApproval), key: "1")
            #expect(asked.state == .deferred)
            #expect(try await store.runner.recover() == 0)
            store.clock.set(storeAhead: .seconds(25 * 3600))
            #expect(try await store.runner.recover() == 1)
            #expect(try await store.load(asked.id).failureReason == .approvalExpired)
            #expect(try await store.runner.recover() == 0)
        }
    }

    @Test func anApprovalDoesNotExpireWhileTheStoresClockStands() async throws {
        try await withStore { store in
            let asked = try await store.buy(request(method: .needsApproval), key: "1")
            store.clock.advance(by: Self.year)
            store.clock.set(storeAhead: .zero - Self.year)
            #expect(try await store.runner.recover() == 0)
            #expect(try await store.load(asked.id) == asked)
        }
    }
}

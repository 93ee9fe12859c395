import EventTypes
import Messaging
import Postgres
import Seals
import StoreAPI
import Testing
import TestSupport

@testable import Payments

/// Ownerships if the first transaction to claim one is not the first to be purchased.
///
/// A rebuild from the log has to find the same owners, however the log is cut into batches.
@Suite(.timeLimit(.minutes(10))) struct OvertakenOwnershipTests {
    private static let free = product("film", .nonConsumable, price: usd(0), version: 2)

    @Test func anOwnershipLostAndClaimedAgainFollowsFromTheLog() async throws {
        try await withStore { store in
            for (account, times) in [(alice, 3), (bob, 2)] {
                for number in 1...times {
                    let film = try await store.buy(
                        request("film"),
                        key: "film-\(number)",
                        of: account
                    )
                    store.clock.advance(by: .seconds(1))
                    // Alice keeps her last one.
                    if account == bob || number < times { try await store.refund(film.id) }
                    store.clock.advance(by: .seconds(1))
                }
            }
            #expect(try await store.owners().count == 1)
            try await store.expectOwnersFollowFromLog()
        }
    }

    @Test(arguments: [SandboxPaymentMethod.success, .decline])
    func aFreePurchaseOwnsAlsoBeforeOneThatIsBeingCharged(_ method: SandboxPaymentMethod)
        async throws
    {
        try await withStore { store in
            let slow = try await store.add(request("film", method: method), key: "a")
            let waiting = try await store.add(request("film"), key: "b")
            try await store.sell(Self.free)
            store.clock.advance(by: .seconds(1))
            let free = try await store.add(request("film", price: usd(0)), key: "c")
            #expect(try await store.load(free.id).originalID == free.id)
            let again = try await store.add(request("film", price: usd(0)), key: "d")
            #expect(try await store.load(again.id).originalID == free.id)
            store.clock.advance(by: .seconds(1))
            try await store.settle()
            let charged = try await store.load(slow.id)
            #expect(charged.state == (method == .success ? .purchased : .failed))
            // The purchase that waited is not charged, whatever the outcome of the slow one.
            let granted = try await store.load(waiting.id)
            #expect(granted.state == .purchased && granted.originalID == free.id)
            #expect(granted.price == usd(0))
            #expect(store.processor.chargesAsked == 1)
            try await store.expectOwnersFollowFromLog()
            // A refund of the overtaken purchase does not change the ownership.
            if method == .success { try await store.refund(slow.id) }
            let owned = try await store.add(request("film", price: usd(0)), key: "e")
            #expect(try await store.load(owned.id).originalID == free.id)
            try await store.expectOwnersFollowFromLog()
        }
    }

    @Test func waiterForOvertakenPurchaseIsGrantedThoughAccountMayNotPay()
        async throws
    {
        try await withStore { store in
            try await store.add(request("film", method: .decline), key: "a")
            let waiting = try await store.add(request("film"), key: "b")
            try await store.sell(Self.free)
            let free = try await store.add(request("film", price: usd(0)), key: "c")
            try await store.say(canMakePayments: false)
            try await store.settle()
            let granted = try await store.load(waiting.id)
            #expect(granted.state == .purchased && granted.originalID == free.id)
            try await store.expectOwnersFollowFromLog()
        }
    }

    @Test(arguments: [true, false])
    func whatIsChargedAfterAllAlthoughItWasDeferredIsOwned(isOvertaken: Bool) async throws {
        try await withStore { store in
            let asked = try await store.buy(request("film", method: .needsApproval), key: "a")
            #expect(asked.state == .deferred)
            let other = isOvertaken ? try await store.buy(request("film"), key: "b") : nil
            store.clock.advance(by: .seconds(1))
            let late = AttemptResult(
                key: AttemptKey(transactionID: asked.id, kind: .charge),
                outcome: .charged(reference: "late", amount: usd(999))
            )
            _ = try await store.outcomes.settle([late])
            #expect(try await store.load(asked.id).state == .purchased)
            let again = try await store.buy(request("film"), key: "c")
            #expect(again.price == usd(0))
            #expect(again.originalID == (other ?? asked).id)
            try await store.expectOwnersFollowFromLog()
        }
    }
}

extension Store {
    /// Refunds a charged transaction.
    func refund(_ id: TransactionID) async throws {
        guard case .accepted(let refund, _) = try await refunds.beginRefund(of: id) else {
            return #expect(Bool(false), "It was not paid.")
        }
        await runner.carryOut([refund])
        await runner.drain()
    }

    /// The owners of all non-consumables.
    func owners() async throws -> [String] {
        try await client.withConnection { try Self.owners(on: $0) }
    }

    /// Rebuilds the ownerships from the log, cut into up to three batches in every possible way.
    func expectOwnersFollowFromLog(
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let owners = try await owners()
        let log = try await client.withTransaction {
            try EventLog.rows(after: .start, limit: 1000, part: .visible, on: $0)
        }
        try await withTestDatabase(migrations: PaymentsMigrations.all) { shadow in
            try await shadow.withClient { client in
                for first in 0...log.count {
                    for second in first...log.count {
                        let batches = [log[..<first], log[first..<second], log[second...]]
                        let rebuilt = try await client.withConnection {
                            try Self.owners(after: batches.map(Array.init), on: $0)
                        }
                        #expect(
                            rebuilt == owners,
                            "cut before \(first) and \(second)",
                            sourceLocation: sourceLocation
                        )
                    }
                }
            }
        }
    }

    /// The owners according to a log, in tables that are empty before and after.
    private static func owners(
        after batches: [[OutboxRow]],
        on shadow: isolated PostgresConnection
    ) throws -> [String] {
        let handler = PaymentsRebuildHandler()
        try shadow.execute("BEGIN")
        for batch in batches {
            let contradictions = try handler.apply(batch, on: shadow)
            #expect(contradictions == [])
        }
        let owners = try owners(on: shadow)
        try shadow.execute("ROLLBACK")
        return owners
    }

    private static func owners(on connection: isolated PostgresConnection) throws -> [String] {
        try connection.query(
            """
            SELECT concat_ws(' ', account_id, product_id, transaction_id, owned_at) FROM ownerships
            WHERE owned_at IS NOT NULL ORDER BY 1
            """
        ).map { try $0.decode(String.self) }
    }
}

import EventTypes
import Ledger
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct RefundTests {
    @Test func aRefundGivesTheChargeBackOnceAndRevokesTheTransaction() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            for _ in 0..<3 {
                guard
                    case .accepted(let attempt, _) = try await store.refunds.beginRefund(
                        of: bought.id
                    )
                else { break }
                await store.runner.carryOut([attempt])
            }
            let refunded = try await store.load(bought.id)
            #expect(refunded.state == .purchased)
            #expect(refunded.revokedAt == store.clock.now())
            #expect(refunded.version == bought.version + 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.eventTypes(of: bought.id).last == "transaction.refunded.v1")
            #expect(try await store.booksBalance())
            guard case .done(let again) = try await store.refunds.beginRefund(of: bought.id) else {
                return #expect(Bool(false))
            }
            #expect(again == refunded)
        }
    }

    @Test func aRefundThatWasPromisedIsCarriedOutWhateverIsKilled() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.refunds.beginRefund(of: bought.id)
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
        }
    }

    @Test func aRefundWhoseCommitNeverCameIsFoundByInquiry() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            guard
                case .accepted(let attempt, _) = try await store.refunds.beginRefund(of: bought.id)
            else { return #expect(Bool(false)) }
            _ = await store.processor.outcomes(ofRefunding: [
                UndoCall(attempt)
            ])
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
        }
    }

    @Test(arguments: [SandboxPaymentMethod.decline, .needsApproval])
    func onlyAPurchaseIsRefunded(method: SandboxPaymentMethod) async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: method), key: "a")
            let counts = try await store.counts()
            guard
                case .refused(.notPurchased, _) = try await store.refunds.beginRefund(of: bought.id)
            else { return #expect(Bool(false)) }
            #expect(try await store.counts() == counts)
        }
    }

    @Test func aCopyIsNotRefundedButItsOriginalIs() async throws {
        try await withStore { store in
            let first = try await store.buy(request("film"), key: "a")
            let copy = try await store.buy(request("film"), key: "b")
            #expect(copy.reason == .ownedAgain)
            let counts = try await store.counts()
            guard case .refused(.isCopy, _) = try await store.refunds.beginRefund(of: copy.id)
            else {
                return #expect(Bool(false))
            }
            #expect(try await store.counts() == counts)
            #expect(try await store.load(first.id).revokedAt == nil)
        }
    }

    @Test func whatCostNothingIsTakenAwayAndGivenBackWithoutMoney() async throws {
        try await withStore { store in
            try await store.sell(product("gift", .nonConsumable, price: usd(0)))
            let free = try await store.buy(request("gift", price: usd(0)), key: "a")
            guard case .done(let revoked) = try await store.refunds.refund(free.id) else {
                return #expect(Bool(false))
            }
            #expect(revoked.revokedAt != nil && revoked.refunds?.map(\.amount) == [usd(0)])
            guard case .done(let back) = try await store.refunds.reverseRefund(1, of: free.id)
            else {
                return #expect(Bool(false))
            }
            #expect(back.revokedAt == nil)
            #expect(try await store.count("sandbox_processor.refunds") == 0)
            #expect(try await store.count("ledger_postings") == 0)
            try await store.expectOwnersFollowFromLog()
        }
    }
}

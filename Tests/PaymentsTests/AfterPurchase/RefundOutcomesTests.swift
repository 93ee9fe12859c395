import EventTypes
import Ledger
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Refunds that the processor has begun, and refunds that it cannot make.
@Suite(.timeLimit(.minutes(10))) struct RefundOutcomesTests {
    @Test func aRefundThatTakesItsTimeIsMadeOnce() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .refundPending), key: "a")
            let reply = try await store.refunds.refund(bought.id)
            guard case .accepted(let attempt, let before) = reply else {
                return #expect(Bool(false), "It is confirmed already.")
            }
            #expect(before.refunds == nil && attempt.amount == usd(999))
            #expect(try await store.attempt(of: bought.id, .refund).step == .processing)
            // What has begun counts as refunded.
            guard case .accepted = try await store.refunds.refund(bought.id) else {
                return #expect(Bool(false), "A second refund was begun.")
            }
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
            #expect(try await store.postings(of: bought.id) == [.purchase, .refund])
        }
    }

    /// The process is killed after the call and before the commit of its answer.
    @Test func aBegunRefundWhoseAnswerWasNotCommittedIsFound() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .refundPending), key: "a")
            guard
                case .accepted(let attempt, _) = try await store.refunds.beginRefund(of: bought.id)
            else { return #expect(Bool(false)) }
            await store.processor.refund([UndoCall(attempt)]) { _, _ in }
            try await store.recover()
            #expect(try await store.load(bought.id).revokedAt != nil)
            #expect(try await store.count("sandbox_processor.refunds") == 1)
        }
    }

    @Test func aRefundThatWasBegunEarlierIsLeftToTheRecovery() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            _ = try await store.refunds.beginRefund(of: bought.id)
            guard case .accepted = try await store.refunds.refund(bought.id) else {
                return #expect(Bool(false), "The processor was called without a lease.")
            }
            #expect(try await store.count("sandbox_processor.refunds") == 0)
            try await store.recover()
            #expect(try await store.count("sandbox_processor.refunds") == 1)
        }
    }

    @Test func aRefundThatFailsMovesNothingAndIsSaidToHaveFailed() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .refundFailed), key: "a")
            guard case .refused(.refundFailed(1), _) = try await store.refunds.refund(bought.id)
            else { return #expect(Bool(false), "It did not fail.") }
            let failed = try await store.attempt(of: bought.id, .refund)
            #expect(failed.step == .failed && failed.dueAt == nil)
            #expect(try await store.load(bought.id) == bought)
            #expect(try await store.postings(of: bought.id) == [.purchase])
            // Its amount can be refunded again, as another refund.
            guard case .refused(.refundFailed(2), _) = try await store.refunds.refund(bought.id)
            else { return #expect(Bool(false), "Nothing was left to refund.") }
        }
    }
}

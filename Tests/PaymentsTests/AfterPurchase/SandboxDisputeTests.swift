import EventTypes
import Ledger
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Disputes at the sandbox's processor.
@Suite(.timeLimit(.minutes(3))) struct SandboxDisputeTests {
    @Test func aTestOpensAndWinsADispute() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            #expect(try await store.dispute(.inquire, bought.id) == .done(bought))
            for _ in 0..<2 {
                guard case .done(let taken) = try await store.dispute(.open, bought.id) else {
                    throw PaymentError(.unknownRow)
                }
                #expect(taken.revokedAt != nil && taken.refunds?.count == 1)
            }
            for _ in 0..<2 {
                guard case .done(let won) = try await store.dispute(.win, bought.id) else {
                    throw PaymentError(.unknownRow)
                }
                #expect(won.revokedAt == nil && won.refundedAmount.isZero)
            }
            #expect(try await store.dispute(.lose, bought.id) == .refused)
            #expect(
                try await store.postings(of: bought.id)
                    == [.purchase, .chargeback, .chargebackReversal]
            )
            #expect(try await store.count("processor_returns") == 2)
        }
    }

    /// As after a kill between the processor's books and those of the store.
    @Test func aStepThatOnlyTheProcessorKnowsIsSettledWhenItIsRepeated() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            let charge = try await store.attempt(of: bought.id)
            let books = SandboxDisputeStore(client: store.client)
            #expect(try await books.write(.open, of: charge) != nil)
            #expect(try await store.load(bought.id) == bought)
            guard case .done(let taken) = try await store.dispute(.open, bought.id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(taken.revokedAt != nil && taken.refunds?.count == 1)
            #expect(try await books.write(.win, of: charge) != nil)
            guard case .done(let won) = try await store.dispute(.win, bought.id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(won.revokedAt == nil && won.refundedAmount.isZero)
            #expect(
                try await store.postings(of: bought.id)
                    == [.purchase, .chargeback, .chargebackReversal]
            )
            #expect(try await store.count("processor_returns") == 2)
        }
    }

    @Test func onlyWhatIsLeftIsDisputedAndNothingIsRefundedAfterwards() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            #expect(try await store.dispute(.inquire, bought.id) == .done(bought))
            _ = try await store.refunds.refund(bought.id, RefundTerms(amount: usd(400)))
            guard case .done(let taken) = try await store.dispute(.open, bought.id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(taken.refunds?.map(\.amount) == [usd(400), usd(599)])
            let charge = try await store.attempt(of: bought.id)
            let refund = IDSource.random.attempt(at: startTime)
            let books = SandboxStore(client: store.client)
            let more = SandboxStore.Return(id: refund, of: charge.id, amount: usd(1))
            #expect(try await books.refund([more]).isEmpty)
            _ = try await store.dispute(.win, bought.id)
            #expect(try await books.refund([more]) == [refund])
        }
    }

    @Test func whatWasNotPaidIsNotDisputed() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            #expect(try await store.dispute(.win, bought.id) == .refused)
            _ = try await store.refunds.refund(bought.id)
            #expect(try await store.dispute(.open, bought.id) == .refused)
            #expect(try await store.dispute(.open, TransactionID(number: 1)) == .unknown)
        }
    }
}

extension Store {
    fileprivate func dispute(
        _ step: TestDisputeRequest.Step,
        _ id: TransactionID
    ) async throws -> SandboxDisputeHandler.Reply {
        try await SandboxDisputeHandler(
            books: SandboxDisputeStore(client: client),
            disputes: DisputeHandler(context: context, runner: runner)
        ).take(step, of: id)
    }
}

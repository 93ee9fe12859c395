import EventTypes
import Ledger
import StoreAPI
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Disputes at the sandbox's processor.
@Suite(.timeLimit(.minutes(10))) struct SandboxDisputeTests {
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

    @Test(arguments: RefundedPeriodTests.Period.allCases)
    func aDisputedPeriodIsTakenAndAWonOneComesBackIfItStillRuns(
        period: RefundedPeriodTests.Period
    ) async throws {
        try await withStore { store in
            let id = try await period.prepare(store)
            if let part = period.amount {
                _ = try await store.refunds.refund(id, RefundTerms(amount: part))
            }
            let before = try await store.load(id)
            let takesTheRunning = period == .running || period == .partOfRunning
            let wasEntitled = try await store.subscription().isEntitled(at: store.clock.now())
            guard case .done(let taken) = try await store.dispute(.open, id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(taken.revokedAt != nil && taken.refundedAmount == taken.price)
            let disputed = try await store.subscription()
            #expect(disputed.state == (takesTheRunning ? .revoked : period.state))
            #expect(
                disputed.isEntitled(at: store.clock.now()) == (!takesTheRunning && wasEntitled)
            )
            let cause = try await store.subscriptionChanges().last?.cause
            #expect(cause == (takesTheRunning ? .refunded : period.cause))
            if takesTheRunning || period == .paidInAdvance { #expect(!disputed.isAutoRenewOn) }
            // The helper takes each refund of an upgraded period for one that the upgrade owed.
            if period != .upgraded { #expect(try await store.auditFindings() == []) }

            guard case .done(let won) = try await store.dispute(.win, id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(won.revokedAt == nil && won.refundedAmount == before.refundedAmount)
            let after = try await store.subscription()
            #expect(after.state == (takesTheRunning ? .active : period.state))
            #expect(after.isEntitled(at: store.clock.now()) == wasEntitled)
            #expect(after.isAutoRenewOn == disputed.isAutoRenewOn, "Nobody is charged again.")
            #expect(try await store.subscriptionChanges().last?.cause == .refundReversed)
            let kinds = try await store.postings(of: id)
            #expect(kinds.contains(.chargeback) && kinds.contains(.chargebackReversal))
            #expect(try await store.booksBalance())
        }
    }

    @Test func aDisputedSubscriptionIsNotRenewedAndNoPeriodOverComesBack() async throws {
        try await withStore { store in
            let id = try await RefundedPeriodTests.Period.running.prepare(store)
            _ = try await store.dispute(.open, id)
            try await store.advance(days: 40)
            #expect(try await store.transactions().map(\.id) == [id])
            guard case .done(let won) = try await store.dispute(.win, id) else {
                throw PaymentError(.unknownRow)
            }
            #expect(won.refundedAmount.isZero)
            #expect(try await store.subscription().state == .expired)
            try await store.advance(days: 40)
            #expect(try await store.transactions().map(\.id) == [id])
        }
    }

    /// The next period is owed back (rule S131), once, and so nothing of it is left to dispute.
    @Test func aDisputeOfTheRunningPeriodAlsoRefundsTheNextOne() async throws {
        try await withStore { store in
            let next = try await RefundedPeriodTests.Period.paidInAdvance.prepare(store)
            let running = try #require(try await store.transactions().first).id
            #expect(running != next)
            guard case .done = try await store.dispute(.open, running) else {
                throw PaymentError(.unknownRow)
            }
            try await store.settle()
            await store.runner.drain()
            #expect(try await store.subscription().state == .revoked)
            let returned = try await store.load(next)
            #expect(returned.refundedAmount == returned.price && returned.revokedAt != nil)
            #expect(try await store.postings(of: next) == [.purchase, .refund])
            #expect(try await store.dispute(.open, next) == .refused)
            #expect(try await store.booksBalance())
        }
    }

    @Test func aDisputeOfTheNextPeriodThenOfTheRunningOneTakesEachOnce() async throws {
        try await withStore { store in
            let next = try await RefundedPeriodTests.Period.paidInAdvance.prepare(store)
            let running = try #require(try await store.transactions().first).id
            for id in [next, running] {
                guard case .done = try await store.dispute(.open, id) else {
                    throw PaymentError(.unknownRow)
                }
            }
            try await store.settle()
            await store.runner.drain()
            for id in [next, running] {
                #expect(try await store.postings(of: id) == [.purchase, .chargeback])
                #expect(try await store.load(id).refunds?.count == 1)
            }
            #expect(try await store.subscription().state == .revoked)
            #expect(try await store.booksBalance())
        }
    }

    /// Otherwise the refund would be under way for ever, and count as one beside the dispute.
    @Test func aRefundUnderWayIsRefusedOnceABankHasTheMoney() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            let begun = try await store.refunds.beginRefund(of: bought.id)
            guard case .accepted(let attempt, _) = begun else {
                throw PaymentError(.unknownRow)
            }
            _ = try await store.dispute(.open, bought.id)
            let answers = Mutex<[UndoOutcome]>([])
            await store.processor.refund([UndoCall(attempt)]) { _, outcome in
                answers.withLock { $0.append(outcome) }
            }
            #expect(answers.withLock { $0 } == [.failed(.processorRefused)])
            try await store.recover()
            #expect(try await store.postings(of: bought.id) == [.purchase, .chargeback])
            #expect(try await store.count("sandbox_processor.refunds") == 0)
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

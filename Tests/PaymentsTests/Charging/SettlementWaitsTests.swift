import EventTypes
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Plans for what has to be asked again, without a database.
@Suite struct SettlementWaitsTests {
    private let id = TransactionID(number: 1)
    private let now = startTime.onMachines

    private func attempt(
        _ kind: AttemptKind = .charge,
        _ step: AttemptStep = .calling
    ) -> ProcessorAttempt {
        ProcessorAttempt(
            transactionID: id,
            kind: kind,
            id: IDSource.random.attempt(at: startTime),
            step: step,
            paymentMethod: "sandbox_success",
            amount: usd(999),
            firstCalledAt: now,
            dueAt: now
        )
    }

    /// A plan for one attempt.
    private func plan(
        _ attempt: ProcessorAttempt,
        _ state: TransactionState = .purchasing,
        after duration: Duration = .zero,
        _ change: (inout Transaction) -> Void = { _ in }
    ) -> SettlementPlan {
        var transaction = transaction(state)
        transaction.id = id
        transaction.originalID = id
        change(&transaction)
        var plan = SettlementPlan(
            time: startTime,
            machineTime: now.advanced(by: duration),
            policy: AttemptPolicy(),
            ids: .random,
            subscriptions: .inTests
        )
        plan.take(
            [id: TransactionRecord(transaction: transaction, taxBasisPoints: 0)],
            [attempt.key: attempt]
        )
        return plan
    }

    @Test func aKeyThatTwoInquiriesFindSpentIsReplacedOnce() {
        let attempt = attempt()
        var plan = plan(attempt)
        let spent = AttemptOutcome.keyIsSpent(generation: 1, step: .calling)
        for _ in 0..<2 { plan.apply(AttemptResult(key: attempt.key, outcome: spent)) }
        #expect(plan.attempts[attempt.key]?.generation == 2)
        #expect(plan.report.followUps.map(\.generation) == [2])
    }

    @Test func aKeyUnderWhichTheProcessorHasBegunAfterAllIsKept() {
        let attempt = attempt()
        var plan = plan(attempt)
        plan.apply(AttemptResult(key: attempt.key, outcome: .processing(reference: "r")))
        let spent = AttemptOutcome.keyIsSpent(generation: 1, step: .calling)
        plan.apply(AttemptResult(key: attempt.key, outcome: spent))
        #expect(plan.attempts[attempt.key]?.generation == 1)
        #expect(plan.report.followUps.isEmpty)
    }

    @Test(arguments: [59, 60, 61, 600])
    func anActionEndsInTimeHoweverOftenTheAppAsks(minutes: Int) throws {
        var attempt = attempt(.charge, .awaitingAction)
        let end = now.advanced(by: .seconds(3600))
        attempt.actionEndsAt = end
        let age = Duration.seconds(minutes * 60)
        for outcome in [AttemptOutcome.needsAction(reference: "r"), .tryAgain(wasCalled: false)] {
            var plan = plan(attempt, after: age)
            plan.apply(AttemptResult(key: attempt.key, outcome: outcome))
            let due = try #require(plan.attempts[attempt.key]?.dueAt)
            #expect(due == max(end, now.advanced(by: age + .seconds(1))))
        }
    }

    @Test func thatABuyerIsAwaitedIsToldOnceAndTakenBack() {
        let attempt = attempt()
        var plan = plan(attempt)
        var told: [Bool] = []
        for outcome in [
            AttemptOutcome.processing(reference: "r"), .needsAction(reference: "r"),
            .tryAgain(wasCalled: false), .needsAction(reference: "r"),
            .processing(reference: "r"), .processing(reference: "r"),
        ] {
            plan.apply(AttemptResult(key: attempt.key, outcome: outcome))
            told.append(plan.records[id]?.transaction.awaitsBuyer == true)
        }
        #expect(told == [false, true, true, true, false, false])
        let types: [EventType] = [.transactionWaitChanged, .transactionWaitChanged]
        #expect(plan.events.map(\.type) == types)
        #expect(plan.events.map(\.transaction.version) == [4, 5])
        #expect(plan.events.map(\.transaction.awaitsBuyer) == [true, nil])
        #expect(plan.changedRecords.map(\.transaction.state) == [.purchasing])
    }

    /// The processor cannot be told to end the charge, and still says that the buyer has to act.
    @Test func afterTheEndOfThePageNobodyIsAwaited() {
        var attempt = attempt(.charge, .awaitingAction)
        attempt.actionEndsAt = now.advanced(by: .seconds(3600))
        var plan = plan(attempt, after: .seconds(3600)) { $0.awaitsBuyer = true }
        for outcome in [
            AttemptOutcome.tryAgain(wasCalled: false), .needsAction(reference: "r"),
        ] {
            plan.apply(AttemptResult(key: attempt.key, outcome: outcome))
            #expect(plan.attempts[attempt.key]?.step == .awaitingAction)
            #expect(plan.records[id]?.transaction.awaitsBuyer == nil)
        }
        #expect(plan.events.map(\.type) == [.transactionWaitChanged])
    }

    @Test func aKeyThatIsReplacedAwaitsNobody() {
        var attempt = attempt(.charge, .awaitingAction)
        attempt.actionEndsAt = now.advanced(by: .seconds(3600))
        var plan = plan(attempt) { $0.awaitsBuyer = true }
        let spent = AttemptOutcome.keyIsSpent(generation: 1, step: .awaitingAction)
        plan.apply(AttemptResult(key: attempt.key, outcome: spent))
        #expect(plan.records[id]?.transaction.awaitsBuyer == nil)
        #expect(plan.events.map(\.type) == [.transactionWaitChanged])
    }

    @Test func anEndOfTheWaitIsOneEvent() {
        var attempt = attempt(.charge, .awaitingAction)
        attempt.actionEndsAt = now.advanced(by: .seconds(3600))
        attempt.reference = "r"
        for (end, type) in [
            (AttemptOutcome.cancelled, EventType.transactionFailed),
            (.charged(reference: "r", amount: usd(999)), .transactionPurchased),
            (.needsApproval(wasApproved: false), .transactionDeferred),
        ] {
            var plan = plan(attempt) { $0.awaitsBuyer = true }
            plan.apply(AttemptResult(key: attempt.key, outcome: end))
            #expect(plan.events.map(\.type) == [type])
            #expect(plan.records[id]?.transaction.awaitsBuyer == nil)
        }
    }

    /// It is in no queue before it is paid.
    @Test func ofARenewalThatAwaitsItsBuyerNothingIsTold() {
        let attempt = attempt()
        var plan = plan(attempt) { $0.reason = .renewal }
        plan.apply(AttemptResult(key: attempt.key, outcome: .needsAction(reference: "r")))
        #expect(plan.attempts[attempt.key]?.step == .awaitingAction)
        #expect(plan.events.isEmpty && plan.changedRecords.isEmpty)
    }

    /// An app asks for the bank's page while the charge is ended because another card pays.
    @Test func whatWasSaidBeforeTheEndContradictsNothing() {
        var attempt = attempt(.charge, .awaitingAction)
        attempt.reference = "r"
        let charged = AttemptOutcome.charged(reference: "r", amount: usd(999))
        for end in [AttemptOutcome.cancelled, charged] {
            var plan = plan(attempt)
            plan.apply(AttemptResult(key: attempt.key, outcome: end))
            let ended = plan.attempts[attempt.key]
            #expect(ended?.step == .settled)
            for late in [
                AttemptOutcome.needsAction(reference: "r"), .processing(reference: "r"),
            ] {
                plan.apply(AttemptResult(key: attempt.key, outcome: late))
            }
            #expect(plan.attempts[attempt.key] == ended && plan.contradictions.isEmpty)
            // Another payment at the processor is one that nobody knows of.
            let other = AttemptOutcome.needsAction(reference: "other")
            plan.apply(AttemptResult(key: attempt.key, outcome: other))
            #expect(plan.contradictions.count == 1)
        }
    }

    @Test func aThrottledCallIsRepeatedBlindOnlyIfNoneWentBefore() {
        let attempt = attempt()
        var plan = plan(attempt)
        let throttled = AttemptOutcome.throttled(retryAfter: .seconds(1))
        plan.apply(AttemptResult(key: attempt.key, outcome: throttled))
        #expect(plan.attempts[attempt.key]?.isUncalled == true)
        plan.apply(AttemptResult(key: attempt.key, outcome: .tryAgain(wasCalled: true)))
        plan.apply(AttemptResult(key: attempt.key, outcome: throttled))
        #expect(plan.attempts[attempt.key]?.isUncalled == false)
    }

    @Test func aCallThatWasNotTakenIsNoFirstCall() {
        let attempt = attempt()
        var plan = plan(attempt)
        let throttled = AttemptOutcome.throttled(retryAfter: .seconds(1))
        plan.apply(AttemptResult(key: attempt.key, outcome: throttled))
        #expect(plan.attempts[attempt.key]?.firstCalledAt == nil)
    }

    /// Another process, whose lease has ended, may still be calling.
    @Test func aCallThatWasNotTakenAfterTheFirstLeaseIsInquiredAbout() {
        let attempt = attempt()
        var plan = plan(attempt, after: AttemptPolicy().lease)
        let throttled = AttemptOutcome.throttled(retryAfter: .seconds(1))
        plan.apply(AttemptResult(key: attempt.key, outcome: throttled))
        #expect(plan.attempts[attempt.key]?.isUncalled == false)
        #expect(plan.attempts[attempt.key]?.firstCalledAt == now)
    }

    @Test func whatTheStoreOwesIsTriedAgainAnHourAfterItFailed() {
        var owed = attempt(.refund)
        owed.isOwed = true
        for (attempt, state) in [
            (owed, TransactionState.purchased), (self.attempt(.refund), TransactionState.failed),
        ] {
            var plan = plan(attempt, state)
            for _ in 0..<2 {
                let failed = AttemptOutcome.undoFailed(.processorRefused, generation: 1)
                plan.apply(AttemptResult(key: attempt.key, outcome: failed))
            }
            let open = plan.attempts[attempt.key]
            #expect(open?.step == .calling && open?.end == nil)
            #expect(open?.generation == 2 && open?.isUncalled == true)
            #expect(open?.dueAt == now.advanced(by: .seconds(3600)))
            #expect(plan.contradictions.count == 1)
        }
    }

    @Test func aRefundThatSomebodyAskedForFails() {
        let attempt = attempt(.refund)
        var plan = plan(attempt, .purchased)
        let failed = AttemptOutcome.undoFailed(.processorRefused, generation: 1)
        plan.apply(AttemptResult(key: attempt.key, outcome: failed))
        #expect(plan.attempts[attempt.key]?.step == .failed)
    }

    @Test func anApprovalTakesTheEndOfAnActionAway() {
        var attempt = attempt(.charge, .awaitingAction)
        attempt.actionEndsAt = now.advanced(by: .seconds(3600))
        var plan = plan(attempt)
        plan.apply(AttemptResult(key: attempt.key, outcome: .needsApproval(wasApproved: false)))
        #expect(plan.attempts[attempt.key]?.step == .awaitingApproval)
        #expect(plan.attempts[attempt.key]?.actionEndsAt == nil)
    }

    @Test func anExhaustedChargeIsInquiredAboutWithTheLongestPause() {
        var attempt = attempt()
        attempt.callCount = 5
        var plan = plan(attempt)
        plan.apply(AttemptResult(key: attempt.key, outcome: .tryAgain(wasCalled: false)))
        #expect(plan.attempts[attempt.key]?.dueAt == now.advanced(by: .seconds(30)))
    }

    /// A tenth of its age, from the first pause to a quarter of a lease.
    @Test(arguments: [(0, 100), (2_000, 200), (10_000, 1_000), (25_000, 2_500), (3_600_000, 2_500)])
    func anInquiryWithoutAnAnswerIsRepeatedEverMoreSlowly(age: Int, pause: Int) {
        let attempt = attempt()
        let age = Duration.milliseconds(age)
        var plan = plan(attempt, after: age)
        plan.apply(AttemptResult(key: attempt.key, outcome: .tryAgain(wasCalled: false)))
        let due = now.advanced(by: age + .milliseconds(pause))
        #expect(plan.attempts[attempt.key]?.dueAt == due)
        #expect(plan.attempts[attempt.key]?.callCount == 0)
    }

    /// A restored store does not know when the processor was called.
    @Test func anInquiryAboutAnAttemptOfUnknownAgeIsRepeatedSlowly() {
        var attempt = attempt()
        attempt.firstCalledAt = nil
        var plan = plan(attempt)
        plan.apply(AttemptResult(key: attempt.key, outcome: .tryAgain(wasCalled: false)))
        #expect(plan.attempts[attempt.key]?.dueAt == now.advanced(by: .milliseconds(2_500)))
    }
}

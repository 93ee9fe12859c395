import EventTypes
import Ledger
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Looks at disputes, in any order and any number of times.
@Suite struct DisputeOrderTests {
    private let id = TransactionID(number: 7)

    private func plan() -> SettlementPlan {
        var plan = SettlementPlan(
            time: startTime,
            machineTime: startTime.onMachines,
            policy: AttemptPolicy(),
            ids: .random,
            subscriptions: .inTests
        )
        var charge = ProcessorAttempt(
            transactionID: id,
            kind: .charge,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(999)
        )
        charge.settle(.charged, reference: ProcessorReference(rawValue: "pi_1"))
        plan.take(
            [id: TransactionRecord(transaction: transaction(.purchased), taxBasisPoints: 1900)],
            [charge.key: charge]
        )
        return plan
    }

    private func dispute(
        _ stage: ProcessorDispute.Stage,
        _ name: String = "dp_1",
        of amount: Int64 = 999
    ) -> ProcessorDispute {
        ProcessorDispute(
            id: name,
            charge: ProcessorSubject(
                transactionID: id,
                id: IDSource.random.attempt(at: startTime)
            ),
            amount: usd(amount),
            stage: stage,
            status: "needs_response",
            reason: "fraudulent",
            openedAt: startTime.onMachines,
            answerBy: nil
        )
    }

    @Test func theEndIsThatOfTheLatestStage() throws {
        var generator = SeededGenerator(seed: 22)
        let stages: [ProcessorDispute.Stage] = [.noMoneyMoved, .withdrawn, .reinstated]
        for _ in 0..<500 {
            let last = try #require(stages.randomElement(using: &generator))
            var looks = stages.filter { $0 <= last }.flatMap { stage in
                Array(repeating: stage, count: Int.random(in: 0...2, using: &generator))
            }
            looks = (looks + [last]).shuffled(using: &generator)
            var plan = plan()
            for stage in looks {
                let isDone = plan.apply(dispute(stage))
                #expect(isDone)
            }
            let transaction = try #require(plan.records[id]?.transaction)
            #expect((transaction.revokedAt != nil) == (last == .withdrawn), "\(looks)")
            let kinds: [PostingKind] =
                switch last {
                case .noMoneyMoved: []
                case .withdrawn: [.chargeback]
                case .reinstated: [.chargeback, .chargebackReversal]
                }
            #expect(plan.postings.map(\.kind) == kinds, "\(looks)")
            #expect(plan.events.count == kinds.count, "\(looks)")
            #expect(plan.newAttempts.map(\.step) == kinds.map { _ in .settled }, "\(looks)")
            #expect(plan.report.followUps.isEmpty, "\(looks)")
            let sum = plan.postings.flatMap(\.entries).reduce(Int64(0)) {
                $1.account == .buyer(alice.accountID) ? $0 + $1.amount.minorUnits : $0
            }
            #expect(sum == (last == .withdrawn ? 999 : 0), "\(looks)")
        }
    }

    @Test func neverIsMoreGivenBackThanWasPaid() throws {
        var generator = SeededGenerator(seed: 23)
        for _ in 0..<500 {
            var plan = plan()
            var steps: [String] = []
            for number in 1...6 {
                let amount = Int64.random(in: 1...999, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0:
                    steps.append("refund \(amount)")
                    let command = TransactionCommand.refund(
                        number: number + 100,
                        amount: usd(amount),
                        revokes: false
                    )
                    plan.apply(command, to: id)
                case 1:
                    steps.append("withdrawn \(number) \(amount)")
                    _ = plan.apply(dispute(.withdrawn, "dp_\(number)", of: amount))
                default:
                    steps.append("reinstated \(number - 1)")
                    _ = plan.apply(dispute(.reinstated, "dp_\(number - 1)", of: amount))
                }
            }
            let transaction = try #require(plan.records[id]?.transaction)
            #expect((0...999).contains(transaction.refundedAmount.minorUnits), "\(steps)")
            let numbers = (transaction.refunds ?? []).map(\.number)
            #expect(Set(numbers).count == numbers.count, "\(steps)")
        }
    }

    @Test func aDisputeBeforeItsChargeIsSettledWaits() {
        var plan = SettlementPlan(
            time: startTime,
            machineTime: startTime.onMachines,
            policy: AttemptPolicy(),
            ids: .random,
            subscriptions: .inTests
        )
        plan.take([id: TransactionRecord(transaction: transaction(), taxBasisPoints: 0)], [:])
        let isDone = plan.apply(dispute(.withdrawn))
        #expect(!isDone)
        #expect(plan.events.isEmpty && plan.contradictions.isEmpty)
    }

    /// A plan with a refund that is open when a bank takes everything back.
    private func planWithRefundAndDispute(isOwed: Bool) -> (SettlementPlan, AttemptKey) {
        var plan = plan()
        let refund = ProcessorAttempt(
            transactionID: id,
            kind: .refund,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(400),
            isOwed: isOwed
        )
        plan.addSettled(refund)
        _ = plan.apply(dispute(.withdrawn))
        return (plan, refund.key)
    }

    @Test(arguments: [true, false])
    func aRefundThatABankWasFasterThanIsInNoBook(isOwed: Bool) throws {
        let (start, key) = planWithRefundAndDispute(isOwed: isOwed)
        var plan = start
        for _ in 0..<2 {
            plan.apply(AttemptResult(key: key, outcome: .refunded(reference: "re_1")))
        }
        #expect(plan.attempts[key]?.step == .failed && plan.attempts[key]?.dueAt == nil)
        #expect(plan.attempts[key]?.reference == "re_1")
        #expect(!plan.contradictions.isEmpty)
        #expect(plan.postings.map(\.kind) == [.chargeback])
        #expect(plan.records[id]?.transaction.refunds?.map(\.amount) == [usd(999)])
    }

    @Test func aRefundThatIsRefusedBecauseOfADisputeIsNotTriedAgain() throws {
        let (start, key) = planWithRefundAndDispute(isOwed: true)
        var plan = start
        let failed = AttemptOutcome.undoFailed(.processorRefused, generation: 1)
        plan.apply(AttemptResult(key: key, outcome: failed))
        #expect(plan.attempts[key]?.step == .failed && plan.attempts[key]?.dueAt == nil)
        #expect(plan.postings.map(\.kind) == [.chargeback])
    }

    /// Otherwise the processor would be asked each hour for a refund that it never makes.
    @Test(arguments: [true, false])
    func aRefundThatIsMadeAgainEndsOnceABankHasTakenAll(isDisputedFirst: Bool) {
        var plan = plan()
        let refund = ProcessorAttempt(
            transactionID: id,
            kind: .refund,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(999),
            isOwed: true
        )
        plan.addSettled(refund)
        plan.apply(AttemptResult(key: refund.key, outcome: .refunded(reference: "re_1")))
        if isDisputedFirst { _ = plan.apply(dispute(.withdrawn)) }
        let failed = AttemptOutcome.undoFailed(
            .processorRefused,
            generation: 1,
            reference: "re_1"
        )
        plan.apply(AttemptResult(key: refund.key, outcome: failed))
        #expect(plan.attempts[refund.key]?.isMadeAgain == true)
        for _ in 0..<2 {
            let isDone = plan.apply(dispute(.withdrawn))
            #expect(isDone)
        }
        #expect(plan.attempts[refund.key]?.step == .settled)
        #expect(plan.attempts[refund.key]?.dueAt == nil)
        #expect(plan.attempts[refund.key]?.reference == "dp_1")
        #expect(plan.postings.map(\.kind) == [.refund])
    }

    @Test func whatWasRefundedBeforeIsNotTakenBackTwice() throws {
        var plan = plan()
        plan.apply(.refund(number: 1, amount: usd(999), revokes: true), to: id)
        let isDone = plan.apply(dispute(.withdrawn))
        #expect(isDone)
        #expect(plan.contradictions.count == 1)
        #expect(plan.postings.map(\.kind) == [.refund])
    }

    /// A plan with a stray charge whose return is under way.
    private func planWithStrayCharge() -> (SettlementPlan, AttemptKey) {
        var plan = SettlementPlan(
            time: startTime,
            machineTime: startTime.onMachines,
            policy: AttemptPolicy(),
            ids: .random,
            subscriptions: .inTests
        )
        let charge = ProcessorAttempt(
            transactionID: id,
            kind: .charge,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(999)
        )
        plan.take(
            [id: TransactionRecord(transaction: transaction(.failed), taxBasisPoints: 1900)],
            [charge.key: charge]
        )
        let charged = AttemptOutcome.charged(reference: "pi_1", amount: usd(999))
        plan.apply(AttemptResult(key: charge.key, outcome: charged))
        return (plan, AttemptKey(transactionID: id, kind: .refund))
    }

    /// Otherwise the processor would be asked each hour for a refund that it never makes.
    @Test func theReturnOfAStrayChargeEndsOnceABankHasTakenItBack() throws {
        var (plan, key) = planWithStrayCharge()
        let refused = AttemptOutcome.undoFailed(.processorRefused, generation: 1)
        plan.apply(AttemptResult(key: key, outcome: refused))
        #expect(plan.attempts[key]?.dueAt != nil)
        for _ in 0..<3 {
            let isDone = plan.apply(dispute(.withdrawn))
            #expect(isDone)
        }
        #expect(plan.attempts[key]?.step == .settled && plan.attempts[key]?.dueAt == nil)
        #expect(plan.attempts[key]?.reference == "dp_1")
        #expect(plan.postings.map(\.kind) == [.strayCharge, .strayChargeReturn])
        let sum = plan.postings.flatMap(\.entries).reduce(Int64(0)) {
            $1.account == .buyer(alice.accountID) ? $0 + $1.amount.minorUnits : $0
        }
        #expect(sum == 0)
        let known = plan.contradictions.count
        // The store has the money again, and owes it.
        _ = plan.apply(dispute(.reinstated))
        #expect(plan.contradictions.count == known + 1)
        #expect(plan.postings.count == 2)
    }

    @Test func aReturnThatWasUnderWayWhenABankTookTheChargeBackIsReported() {
        var (plan, key) = planWithStrayCharge()
        _ = plan.apply(dispute(.withdrawn))
        let known = plan.contradictions.count
        for _ in 0..<2 {
            plan.apply(AttemptResult(key: key, outcome: .refunded(reference: "dp_1")))
        }
        #expect(plan.contradictions.count == known)
        plan.apply(AttemptResult(key: key, outcome: .refunded(reference: "re_1")))
        #expect(plan.contradictions.count == known + 1)
        #expect(plan.postings.map(\.kind) == [.strayCharge, .strayChargeReturn])
    }

    @Test func aStrayChargeThatWasReturnedBeforeItsDisputeIsReported() {
        var (plan, key) = planWithStrayCharge()
        plan.apply(AttemptResult(key: key, outcome: .refunded(reference: "re_1")))
        let known = plan.contradictions.count
        _ = plan.apply(dispute(.withdrawn))
        #expect(plan.contradictions.count == known + 1)
        #expect(plan.postings.map(\.kind) == [.strayCharge, .strayChargeReturn])
    }
}

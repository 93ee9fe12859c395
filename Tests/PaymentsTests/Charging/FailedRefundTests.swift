import EventTypes
import Ledger
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Refunds that fail after the processor has confirmed them, without a database.
@Suite struct FailedRefundTests {
    private let id = TransactionID(number: 7)
    private let key = AttemptKey(transactionID: TransactionID(number: 7), kind: .refund)
    private let failed = AttemptOutcome.undoFailed(
        .processorRefused,
        generation: 1,
        reference: "re_1"
    )

    private func attempt(_ kind: AttemptKind, of amount: Int64 = 999) -> ProcessorAttempt {
        ProcessorAttempt(
            transactionID: id,
            kind: kind,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(amount)
        )
    }

    private func plan(
        _ state: TransactionState,
        _ attempts: ProcessorAttempt...
    ) -> SettlementPlan {
        var plan = SettlementPlan(
            time: startTime,
            machineTime: startTime.onMachines,
            policy: AttemptPolicy(),
            ids: .random,
            subscriptions: .inTests
        )
        plan.take(
            [id: TransactionRecord(transaction: transaction(state), taxBasisPoints: 1900)],
            Dictionary(uniqueKeysWithValues: attempts.map { ($0.key, $0) })
        )
        return plan
    }

    /// A plan for a purchase with a refund that the processor is called for.
    private func planWithRefund(of amount: Int64 = 999, isOwed: Bool = false) -> SettlementPlan {
        var charge = attempt(.charge)
        charge.settle(.charged, reference: "pi_1")
        var refund = attempt(.refund, of: amount)
        refund.revokes = !isOwed
        refund.isOwed = isOwed
        return plan(.purchased, charge, refund)
    }

    private func result(_ outcome: AttemptOutcome) -> AttemptResult {
        AttemptResult(key: key, outcome: outcome)
    }

    @Test func inAnyOrderARefundIsReversedOnceAndCanBeMadeAgain() throws {
        var generator = SeededGenerator(seed: 74)
        let outcomes: [AttemptOutcome] = [
            .processing(reference: "re_1"), .refunded(reference: "re_1"), failed,
        ]
        var ends: Set<[PostingKind]> = []
        for _ in 0..<500 {
            var told = outcomes
            for _ in 0..<4 {
                told.append(try #require(outcomes.randomElement(using: &generator)))
            }
            told.shuffle(using: &generator)
            var plan = planWithRefund()
            for outcome in told { plan.apply(result(outcome)) }
            let transaction = try #require(plan.records[id]?.transaction)
            #expect(transaction.revokedAt == nil, "\(told)")
            #expect(transaction.refundedAmount.isZero, "\(told)")
            #expect(plan.attempts[key]?.hasFailed == true, "\(told)")
            let kinds = plan.postings.map(\.kind)
            #expect(kinds == [] || kinds == [.refund, .refundReversal], "\(told)")
            let added: [AttemptKind] = kinds.isEmpty ? [] : [.reversal]
            #expect(plan.newAttempts.map(\.kind) == added, "\(told)")
            #expect(plan.postings.allSatisfy { $0.number == 1 }, "\(told)")
            var sums: [LedgerAccount: Int64] = [:]
            for entry in plan.postings.flatMap(\.entries) {
                sums[entry.account, default: 0] += entry.amount.minorUnits
            }
            #expect(sums.values.allSatisfy { $0 == 0 }, "\(told)")
            let again = RefundRules.verdict(
                on: RefundTerms(),
                after: nil,
                for: transaction,
                with: Array(plan.attempts.values)
            )
            #expect(
                again == .accepted(RefundPlan(number: 2, amount: usd(999), revokes: true)),
                "\(told)"
            )
            ends.insert(kinds)
        }
        #expect(ends.count == 2)
    }

    @Test func aRefundThatWasRepeatedUnderItsKeyIsSaidToHaveFailed() {
        let used = UsedKey(idempotencyKey: IdempotencyKey(unchecked: "k"), fingerprint: [])
        var refund = attempt(.refund)
        refund.requestKey = used
        var charge = attempt(.charge)
        charge.settle(.charged, reference: "pi_1")
        var plan = plan(.purchased, charge, refund)
        for outcome in [AttemptOutcome.refunded(reference: "re_1"), failed] {
            plan.apply(result(outcome))
        }
        let verdict = plan.records[id].map {
            RefundRules.verdict(
                on: RefundTerms(key: used),
                after: nil,
                for: $0.transaction,
                with: Array(plan.attempts.values)
            )
        }
        #expect(verdict == .refused(.refundFailed(number: 1)))
    }

    @Test func theFailureOfAnotherRefundChangesNothing() {
        var plan = planWithRefund()
        plan.apply(result(.refunded(reference: "re_2")))
        plan.apply(result(failed))
        #expect(plan.attempts[key]?.step == .settled && plan.attempts[key]?.reference == "re_2")
        #expect(plan.postings.map(\.kind) == [.refund])
        #expect(plan.contradictions.isEmpty)
    }

    @Test func whatTheStoreOwesStaysBookedAndIsMadeAgain() {
        var plan = planWithRefund(of: 400, isOwed: true)
        plan.apply(result(.refunded(reference: "re_1")))
        for _ in 0..<2 { plan.apply(result(failed)) }
        // What was said before the refund has failed counts no more.
        plan.apply(result(.refunded(reference: "re_1")))
        let open = plan.attempts[key]
        #expect(open?.step == .calling && open?.generation == 2 && open?.isUncalled == true)
        #expect(open?.dueAt == startTime.onMachines.advanced(by: .seconds(3600)))
        let all = Array(plan.attempts.values)
        #expect(plan.records[id]?.transaction.refundRest(with: all) == 599)
        plan.apply(result(.refunded(reference: "re_2")))
        #expect(plan.attempts[key]?.step == .settled && plan.attempts[key]?.hasFailed == false)
        #expect(plan.postings.map(\.kind) == [.refund])
        #expect(plan.events.map(\.type) == [.transactionRefunded])
        #expect(plan.contradictions.count == 1)
    }

    /// As of a period that its subscription would not have back.
    @Test func whatStaysBookedIsMadeAgainIfTheProcessorRefusesItAtOnce() {
        var plan = planWithRefund()
        plan.apply(result(.refunded(reference: "re_1")))
        plan.change(key) { attempt in
            attempt.step = .calling
            attempt.generation = 2
            attempt.reference = nil
        }
        plan.apply(result(.undoFailed(.processorRefused, generation: 2)))
        #expect(plan.attempts[key]?.step == .calling && plan.attempts[key]?.generation == 3)
        #expect(plan.postings.map(\.kind) == [.refund])
    }

    @Test func theReturnOfAStrayChargeIsPostedOnceAndMadeAgain() {
        let charge = attempt(.charge)
        var plan = plan(.failed, charge)
        let charged = AttemptOutcome.charged(reference: "pi_1", amount: usd(999))
        plan.apply(AttemptResult(key: charge.key, outcome: charged))
        for outcome in [AttemptOutcome.refunded(reference: "re_1"), failed, failed] {
            plan.apply(result(outcome))
        }
        #expect(plan.attempts[key]?.step == .calling && plan.attempts[key]?.generation == 2)
        plan.apply(result(.refunded(reference: "re_2")))
        #expect(plan.attempts[key]?.step == .settled)
        #expect(plan.postings.map(\.kind) == [.strayCharge, .strayChargeReturn])
    }

    /// Otherwise the processor would be asked each hour for a refund that it never makes.
    @Test func whatABankHasTakenMeanwhileIsNotMadeAgain() {
        var plan = planWithRefund(of: 400, isOwed: true)
        for outcome in [AttemptOutcome.refunded(reference: "re_1"), failed] {
            plan.apply(result(outcome))
        }
        plan.apply(.chargeBack(number: 2, amount: usd(599), dispute: "dp_1"), to: id)
        plan.apply(result(.undoFailed(.processorRefused, generation: 2)))
        #expect(plan.attempts[key]?.step == .settled && plan.attempts[key]?.dueAt == nil)
        #expect(plan.postings.map(\.kind) == [.refund, .chargeback])
    }
}

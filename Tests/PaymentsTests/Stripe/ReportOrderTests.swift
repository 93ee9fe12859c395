import EventTypes
import Ledger
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Reports of a processor, in any order and any number of times.
@Suite struct ReportOrderTests {
    private let id = TransactionID(number: 7)
    private let reference = ProcessorReference(rawValue: "pi_1")

    /// The ends that a payment can have.
    enum End: CaseIterable {
        case charged, declined, cancelled
    }

    private func outcome(of end: End) -> AttemptOutcome {
        switch end {
        case .charged: .charged(reference: reference, amount: usd(999))
        case .declined: .declined(.insufficientFunds, advice: .later)
        case .cancelled: .cancelled
        }
    }

    private func plan() -> SettlementPlan {
        var plan = SettlementPlan(
            time: startTime,
            machineTime: startTime.onMachines,
            policy: AttemptPolicy(),
            ids: .random,
            subscriptions: .inTests
        )
        let attempt = ProcessorAttempt(
            transactionID: id,
            kind: .charge,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "pm_1",
            amount: usd(999),
            dueAt: startTime.onMachines
        )
        plan.take(
            [id: TransactionRecord(transaction: transaction(), taxBasisPoints: 0)],
            [attempt.key: attempt]
        )
        return plan
    }

    @Test func aSecondChargeUnderAnotherKeyIsNamedAndBuysNothing() {
        var plan = plan()
        let key = AttemptKey(transactionID: id, kind: .charge)
        for name in ["pi_1", "pi_2", "pi_1"] {
            let charge = AttemptOutcome.charged(
                reference: ProcessorReference(rawValue: name),
                amount: usd(999)
            )
            plan.apply(AttemptResult(key: key, outcome: charge))
        }
        #expect(plan.postings.map(\.kind) == [.purchase])
        #expect(plan.attempts[key]?.reference == reference)
        #expect(plan.contradictions.count == 1)
        #expect(plan.contradictions.first?.message.contains("pi_2 is not returned") == true)
    }

    @Test(arguments: [
        usd(998), usd(1000), Money(minorUnits: 999, currency: Currency(unchecked: "EUR")),
    ])
    func aChargeThatIsNotOfThePriceBuysNothingAndIsReturned(amount: Money) {
        var plan = plan()
        let key = AttemptKey(transactionID: id, kind: .charge)
        let charge = AttemptOutcome.charged(reference: reference, amount: amount)
        for _ in 0..<2 { plan.apply(AttemptResult(key: key, outcome: charge)) }
        #expect(plan.records[id]?.transaction.state == .failed)
        #expect(plan.records[id]?.transaction.failureReason == .processorRefused)
        #expect(plan.postings.map(\.kind) == [.strayCharge])
        let currencies = plan.postings.flatMap(\.entries).map(\.amount.currency)
        #expect(Set(currencies) == [amount.currency])
        #expect(plan.newAttempts.map(\.kind) == [.refund])
        #expect(plan.newAttempts.map(\.amount) == [amount])
        #expect(plan.contradictions.first?.message.contains("was asked for") == true)
    }

    /// Each event causes a look, so a later look never sees an earlier state.
    ///
    /// The answer to the call itself may come at any time.
    @Test(arguments: End.allCases)
    func theEndIsTheSame(end: End) throws {
        var generator = SeededGenerator(seed: 61)
        for _ in 0..<500 {
            let begun: [AttemptOutcome] = [
                .processing(reference: reference), .needsAction(reference: reference),
                .processing(reference: reference),
            ]
            var looks: [AttemptOutcome] = []
            for outcome in begun + [outcome(of: end)] {
                for _ in 0..<Int.random(in: 0...2, using: &generator) { looks.append(outcome) }
            }
            looks.append(outcome(of: end))
            let answer = try #require((begun + [outcome(of: end)]).randomElement(using: &generator))
            looks.insert(answer, at: Int.random(in: 0...looks.count, using: &generator))
            var plan = plan()
            for outcome in looks {
                plan.apply(
                    AttemptResult(
                        key: AttemptKey(transactionID: id, kind: .charge),
                        outcome: outcome
                    )
                )
            }
            let transaction = try #require(plan.records[id]?.transaction)
            #expect(transaction.state == (end == .charged ? .purchased : .failed), "\(looks)")
            #expect(plan.postings.count == (end == .charged ? 1 : 0), "\(looks)")
            #expect(plan.newAttempts.isEmpty, "\(looks)")
            let ends = plan.events.filter { $0.type != .transactionWaitChanged }
            #expect(ends.count == 1 && ends.first?.transaction.awaitsBuyer == nil, "\(looks)")
            #expect(plan.events.last?.type == ends.first?.type, "\(looks)")
        }
    }
}

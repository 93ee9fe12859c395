import EventTypes
import Ledger
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Plans of settlements, without a database.
@Suite struct SettlementPlanTests {
    let first = TransactionID(number: 1)
    let second = TransactionID(number: 2)
    let third = TransactionID(number: 3)

    func key(_ id: TransactionID, _ kind: AttemptKind = .charge) -> AttemptKey {
        AttemptKey(transactionID: id, kind: kind)
    }

    func record(
        _ id: TransactionID,
        _ state: TransactionState = .purchasing
    ) -> TransactionRecord {
        var transaction = transaction(state, type: .nonConsumable)
        transaction.id = id
        transaction.originalID = id
        return TransactionRecord(transaction: transaction, taxBasisPoints: 0)
    }

    func attempt(_ id: TransactionID, waitsFor holder: TransactionID? = nil) -> ProcessorAttempt {
        var attempt = ProcessorAttempt(
            transactionID: id,
            kind: .charge,
            id: IDSource.random.attempt(at: startTime),
            step: .calling,
            paymentMethod: "sandbox_success",
            amount: usd(999),
            dueAt: startTime.onMachines
        )
        if let holder { attempt.wait(for: holder) }
        return attempt
    }

    /// A plan with purchases of one non-consumable: the first is being charged, and the others wait
    /// for it.
    func plan(
        _ state: TransactionState = .purchasing,
        drawing ids: IDSource = .random
    ) -> SettlementPlan {
        var plan = SettlementPlan(
            time: startTime,
            machineTime: startTime.onMachines,
            policy: AttemptPolicy(),
            ids: ids,
            subscriptions: .inTests
        )
        plan.take(
            [first: record(first, state), second: record(second), third: record(third)],
            [
                key(first): attempt(first),
                key(second): attempt(second, waitsFor: first),
                key(third): attempt(third, waitsFor: first),
            ]
        )
        return plan
    }

    /// Passes an ownership on to the waiting purchases.
    func passOn(
        _ plan: inout SettlementPlan,
        _ ownership: Ownership?,
        _ standing: AccountStanding = AccountStanding()
    ) throws -> [TransactionID] {
        let changes = plan.nextOwnershipChanges()
        let change = try #require(changes.first)
        return plan.passOn(
            changes,
            to: [first: [second, third]],
            ownerships: ownership.map { [change.key: $0] } ?? [:],
            standings: [change.key.accountKey: standing]
        ).map(\.transactionID)
    }

    @Test func aChargePurchasesPostsAndOwns() {
        var plan = plan()
        plan.apply(
            AttemptResult(key: key(first), outcome: .charged(reference: "r", amount: usd(999)))
        )
        #expect(plan.changedRecords.map(\.transaction.state) == [.purchased])
        #expect(plan.changedAttempts.map(\.end) == [.charged])
        #expect(plan.postings.map(\.kind) == [.purchase])
        #expect(plan.events.map(\.type) == [.transactionPurchased])
        let change = OwnershipChange(
            key: record(first).ownershipKey,
            holder: first,
            ownedAt: startTime
        )
        #expect(plan.nextOwnershipChanges() == [change])
        #expect(plan.nextOwnershipChanges() == [])
    }

    @Test func whatTheProcessorHasBegunIsNotFailedByCount() {
        var plan = plan()
        plan.apply(AttemptResult(key: key(first), outcome: .processing(reference: "r")))
        plan.apply(AttemptResult(key: key(first), outcome: .exhausted))
        for _ in 0..<20 {
            plan.apply(AttemptResult(key: key(first), outcome: .tryAgain(wasCalled: true)))
        }
        let attempt = plan.attempts[key(first)]
        #expect(attempt?.step == .processing && attempt?.callCount == 0)
        #expect(attempt?.reference == ProcessorReference(rawValue: "r"))
        #expect(plan.changedRecords == [])
    }

    @Test func pausesGrowWithTheTimeThatTheProcessorTakes() {
        let policy = AttemptPolicy()
        #expect(policy.poll(after: .zero) == .seconds(1))
        #expect(policy.poll(after: .seconds(90)) == .seconds(90))
        #expect(policy.poll(after: .seconds(86_400)) == .seconds(3600))
    }

    @Test func aLongLeaseDoesNotMakeUnansweredInquiriesRare() {
        var policy = AttemptPolicy()
        policy.lease = .seconds(45)
        #expect(policy.pause(unansweredAfter: .seconds(3600)) == .seconds(10))
        #expect(policy.pause(unansweredAfter: .seconds(-5)) == .milliseconds(100))
        policy.pause = .seconds(20)
        #expect(policy.pause(unansweredAfter: .zero) == .seconds(20))
    }

    @Test func afterADeclineTheOldestWaiterIsCharged() throws {
        var plan = plan()
        plan.apply(AttemptResult(key: key(first), outcome: .declined(.paymentDeclined)))
        #expect(try passOn(&plan, nil) == [second])
        #expect(plan.report.followUps.map(\.transactionID) == [second])
        #expect(plan.attempts[key(second)]?.step == .calling)
        #expect(plan.attempts[key(third)]?.waitsFor == second)
        #expect(plan.events.map(\.type) == [.transactionFailed])
    }

    @Test func afterAChargeThoseWhoWaitedAreGranted() throws {
        var plan = plan()
        plan.apply(
            AttemptResult(key: key(first), outcome: .charged(reference: "r", amount: usd(999)))
        )
        #expect(try passOn(&plan, Ownership(holder: first, ownedAt: startTime)) == [])
        let granted = plan.changedRecords.dropFirst().map(\.transaction)
        #expect(granted.map(\.originalID) == [first, first])
        #expect(granted.allSatisfy { $0.state == .purchased && $0.price == usd(0) })
        #expect(plan.postings.count == 1 && plan.report.followUps.isEmpty)
    }

    @Test func waitersOfAnAccountThatMayNotPayFailAndGiveUp() throws {
        var plan = plan()
        plan.apply(AttemptResult(key: key(first), outcome: .declined(.paymentDeclined)))
        #expect(try passOn(&plan, nil, AccountStanding(canMakePayments: false)) == [])
        #expect(
            plan.changedRecords.map(\.transaction.failureReason) == [
                .paymentDeclined, .paymentsNotAllowed, .paymentsNotAllowed,
            ]
        )
        // One statement makes only one change of each ownership.
        #expect(plan.nextOwnershipChanges().map(\.holder) == [second])
        #expect(plan.nextOwnershipChanges().map(\.holder) == [third])
    }

    @Test func aStrayChargeIsPostedAndReturned() {
        var plan = plan(.failed)
        plan.apply(
            AttemptResult(key: key(first), outcome: .charged(reference: "r", amount: usd(999)))
        )
        #expect(plan.events.map(\.type) == [.strayCharged])
        #expect(plan.newAttempts.map(\.kind) == [.refund])
        #expect(plan.newAttempts.map(\.undoes) == ["r"])
        #expect(plan.contradictions.map(\.refusal) == [.chargeIsStray])
        #expect(plan.changedRecords.isEmpty)
    }

    @Test func idsOfAttemptsAndPostingsAreDrawnFromTheSource() {
        let id = EventID(bytes: SIMD16(repeating: 7))
        var plan = plan(.failed, drawing: IDSource { _ in id })
        plan.apply(
            AttemptResult(key: key(first), outcome: .charged(reference: "r", amount: usd(999)))
        )
        #expect(plan.newAttempts.map(\.id.bytes) == [id.bytes])
        #expect(plan.postings.map(\.id.bytes) == [id.bytes])
    }

    @Test func aSecondChargeIsAContradictionAndChangesNothing() {
        var plan = plan()
        for reference in ["r", "r", "s"] {
            let outcome = AttemptOutcome.charged(
                reference: ProcessorReference(rawValue: reference),
                amount: usd(999)
            )
            plan.apply(AttemptResult(key: key(first), outcome: outcome))
        }
        #expect(plan.contradictions.map(\.transactionID) == [first])
        #expect(plan.attempts[key(first)]?.reference == ProcessorReference(rawValue: "r"))
        #expect(plan.postings.count == 1 && plan.newAttempts.isEmpty)
    }

    @Test func anOutcomeOfNoKnownAttemptChangesNothing() {
        var plan = plan()
        let unknown = TransactionID(number: 9)
        plan.apply(
            AttemptResult(key: key(unknown), outcome: .charged(reference: "r", amount: usd(999)))
        )
        #expect(plan.contradictions.map(\.transactionID) == [unknown])
        #expect(plan.events.isEmpty && plan.changedAttempts.isEmpty)
    }
}

import EventTypes
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Plans of accepted payments, without a database.
@Suite struct AcceptancePlanTests {
    let usd999 = usd(999)

    func acceptance(_ number: Int64, isFree: Bool = false) -> Acceptance {
        var transaction = transaction(price: isFree ? usd(0) : usd999, type: .nonConsumable)
        transaction.id = TransactionID(number: number)
        transaction.originalID = transaction.id
        transaction.version = 1
        let record = TransactionRecord(transaction: transaction, taxBasisPoints: 0)
        guard !isFree else { return Acceptance(record: record, grant: .grantFree) }
        return Acceptance(
            record: record,
            attempt: ProcessorAttempt(
                transactionID: transaction.id,
                kind: .charge,
                id: IDSource.random.attempt(at: startTime),
                step: .calling,
                paymentMethod: "sandbox_success",
                amount: usd999,
                dueAt: startTime.onMachines
            )
        )
    }

    func plan(_ acceptances: Acceptance..., holder: Ownership) throws -> AcceptancePlan {
        try AcceptancePlan(
            acceptances,
            meeting: [acceptances[0].record.ownershipKey: holder],
            drawing: .random,
            at: startTime
        )
    }

    @Test func ofTwoPurchasesAtOnceTheSecondWaits() throws {
        let first = acceptance(1)
        let holder = Ownership(holder: first.record.transaction.id, ownedAt: nil)
        let plan = try plan(first, acceptance(2), holder: holder)
        #expect(plan.acceptances.map(\.attempt?.step) == [.calling, .waiting])
        #expect(plan.acceptances[1].attempt?.waitsFor == first.record.transaction.id)
        #expect(plan.ownershipChanges.isEmpty)
        #expect(plan.events.map(\.type) == [.transactionPurchasing, .transactionPurchasing])
    }

    @Test func aFreePurchaseOwnsAndThoseAfterItAreGranted() throws {
        let free = acceptance(2, isFree: true)
        let holder = Ownership(holder: TransactionID(number: 1), ownedAt: nil)
        let plan = try plan(free, acceptance(3), acceptance(4, isFree: true), holder: holder)
        #expect(plan.ownershipChanges.map(\.holder) == [free.record.transaction.id])
        let transactions = plan.acceptances.map(\.record.transaction)
        #expect(transactions.allSatisfy { $0.state == .purchased && $0.price == usd(0) })
        #expect(transactions.allSatisfy { $0.originalID == free.record.transaction.id })
        #expect(plan.acceptances.allSatisfy { $0.attempt == nil })
        #expect(plan.events.count == 6)
    }

    @Test func aGrantThatTheStateMachineRefusesIsAnError() {
        var owned = acceptance(1, isFree: true)
        owned.record.transaction.state = .purchased
        let error = #expect(throws: PaymentError.self) {
            try AcceptancePlan([owned], meeting: [:], drawing: .random, at: startTime)
        }
        #expect(error?.code == .undecided)
    }
}

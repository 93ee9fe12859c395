import EventTypes
import StoreHarness
import Testing

@testable import devstore

/// The payments that the bank of a chaos run disputes, and the refunds that it cannot make.
@Suite struct ChaosBankTests {
    private func payment(
        _ number: Int64,
        _ product: ProductID = SampleCatalog.coins,
        _ reason: TransactionReason = .purchase,
        state: TransactionState = .purchased,
        cents: Int64 = 299
    ) -> Transaction {
        let id = TransactionID(number: number)
        let isPeriod = SampleCatalog.clubs.contains(product)
        return Transaction(
            id: id,
            originalID: id,
            reason: reason,
            version: 1,
            state: state,
            accountID: AccountID(unchecked: "ada"),
            bundleID: StoreKeys.bundleID,
            productID: product,
            productVersion: 1,
            productType: isPeriod ? .autoRenewableSubscription : .consumable,
            quantity: 1,
            storefront: SampleCatalog.usa,
            price: SampleCatalog.usd(cents),
            applicationUsername: nil,
            deliveryPlan: [.entitlement],
            requestedAt: StoreTime(millisecondsSinceEpoch: 0)
        )
    }

    private func kind(_ payment: Transaction) -> DisputeCandidates.Kind? {
        DisputeCandidates.kind(of: payment)
    }

    @Test func purchasesFirstPeriodsAndRenewalsAreDisputed() {
        #expect(kind(payment(1)) == .purchase)
        #expect(kind(payment(1, SampleCatalog.club)) == .firstPeriod)
        #expect(kind(payment(1, SampleCatalog.club, .renewal)) == .renewal)
    }

    @Test func whatCostNothingOrIsGivenBackIsNotDisputed() {
        #expect(kind(payment(1, cents: 0)) == nil)
        #expect(kind(payment(1, state: .failed)) == nil)
        #expect(kind(payment(1, SampleCatalog.pro, .restore, state: .restored)) == nil)
        #expect(kind(payment(1, SampleCatalog.yearlyClub, .familyShared)) == nil)
        #expect(kind(payment(10)) == nil && kind(payment(20)) == nil)
    }

    @Test func someOfEachKindAreChosenAndTheFirstOfEach() {
        var candidates = DisputeCandidates()
        for number in Int64(1)...100 {
            candidates.add(payment(number))
            candidates.add(payment(1000 + number, SampleCatalog.club))
            candidates.add(payment(2000 + number, SampleCatalog.club, .renewal))
        }
        #expect(candidates.chosen.prefix(3).map(\.kind) == [.purchase, .firstPeriod, .renewal])
        let counts = DisputeCandidates.Kind.allCases.map { kind in
            candidates.chosen.count { $0.kind == kind }
        }
        // Of 90 each, because every tenth is given back.
        #expect(counts == [5, 15, 9])
    }

    @Test func everyThirdPaymentHasItsFirstRefundFailOnce() {
        var failing = FailingRefunds()
        let refunds = (0..<7).map { (id: "re_\($0)", payment: "pi_\($0)") }
        let first = failing.next(among: Array(refunds.prefix(2)))
        #expect(first == ["re_0"])
        let others = failing.next(among: refunds)
        #expect(others == ["re_3", "re_6"])
        let again = refunds.map { (id: "again_\($0.id)", payment: $0.payment) }
        let none = failing.next(among: refunds + again)
        #expect(none == [])
    }
}

import EventTypes
import StoreAPI
import StoreHarness
import StripeStandIn
import Testing

/// The comparison of a store with the books of the stand-in for Stripe.
@Suite struct StripeAuditTests {
    private func books(
        _ state: TransactionState,
        price: Int64 = 99,
        refunded: Int64 = 0,
        isReversed: Bool = false
    ) -> TransactionBooks {
        var books = TransactionBooks(id: TransactionID(number: 7))
        let time = StoreTime(millisecondsSinceEpoch: 0)
        books.entry = TransactionBooks.Entry(
            accountID: AccountID(unchecked: "ada"),
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.coins,
            quantity: 1,
            originalID: books.id,
            reason: .purchase,
            state: state,
            price: SampleCatalog.usd(price),
            deliveryCount: 0,
            grantsEntitlement: false,
            isFinished: nil,
            isRevoked: false,
            requestedAt: time,
            changedAt: time
        )
        if refunded > 0 {
            let refund = Refund(
                number: 1,
                amount: SampleCatalog.usd(refunded),
                refundedAt: time,
                revokes: true,
                reversedAt: isReversed ? time : nil
            )
            books.entry?.refunds = [refund]
        }
        return books
    }

    private func entry(
        _ kind: String = "charge",
        amount: Int64 = 99,
        transaction: String = "7",
        payment: String = "pi_1",
        currency: String = "usd"
    ) -> StandInServer.Entry {
        StandInServer.Entry(
            attempt: "a",
            transaction: transaction,
            payment: payment,
            kind: kind,
            amount: amount,
            currency: currency
        )
    }

    private func verdict(
        _ transactions: [TransactionBooks],
        _ entries: [StandInServer.Entry],
        withdrawn: [String: Int64] = [:]
    ) -> String {
        let none = Reconciliation(since: nil, until: StoreTime(millisecondsSinceEpoch: 0))
        var report = AuditReport(of: none, accepted: [])
        report.compare(transactions, with: entries, withdrawn)
        return report.verdict
    }

    private let clean = "0 lost, 0 doubled"
    private let doubled = "0 lost, 1 doubled"

    @Test func eachPurchaseHasOneCharge() {
        #expect(verdict([books(.purchased)], [entry()]) == clean)
        #expect(verdict([books(.purchased)], []) == "1 lost, 0 doubled")
        #expect(verdict([books(.purchased)], [entry(), entry(payment: "pi_2")]) == doubled)
        #expect(verdict([], [entry()]) == doubled)
    }

    @Test func aFreePurchaseHasNone() {
        #expect(verdict([books(.purchased, price: 0)], []) == clean)
    }

    @Test func aChargeOfAFailedPaymentIsGivenBack() {
        #expect(verdict([books(.failed)], []) == clean)
        #expect(verdict([books(.failed)], [entry()]) == doubled)
        #expect(verdict([books(.failed)], [entry(), entry("refund")]) == clean)
        #expect(verdict([books(.failed)], [entry()], withdrawn: ["pi_1": 99]) == clean)
    }

    @Test func noMoreGoesBackThanWasPaid() {
        let refunded = [entry(), entry("refund")]
        let refund = books(.purchased, refunded: 99)
        #expect(verdict([refund], refunded) == clean)
        let twice = verdict([refund], refunded, withdrawn: ["pi_1": 99])
        #expect(twice == doubled + ", 1 otherwise wrong")
    }

    /// A refund that fails later is not among Stripe's entries any more.
    @Test func asMuchGoesBackAsTheStoreSays() {
        let refund = books(.purchased, refunded: 99)
        let reversed = books(.purchased, refunded: 99, isReversed: true)
        #expect(verdict([refund], [entry()]) == "1 lost, 0 doubled")
        #expect(verdict([reversed], [entry()]) == clean)
        let wrong = "0 lost, 0 doubled, 1 otherwise wrong"
        #expect(verdict([reversed], [entry(), entry("refund")]) == wrong)
        #expect(verdict([refund], [entry()], withdrawn: ["pi_1": 99]) == clean)
        #expect(verdict([reversed], [entry()], withdrawn: ["pi_1": 99]) == wrong)
    }

    @Test func anotherAmountOrCurrencyIsWrong() {
        for entry in [entry(amount: 100), entry(currency: "eur")] {
            let report = verdict([books(.purchased)], [entry])
            #expect(report == "0 lost, 0 doubled, 1 otherwise wrong")
        }
    }
}

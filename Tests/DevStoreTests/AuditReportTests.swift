import EventTypes
import StoreAPI
import StoreHarness
import Testing

/// The comparison of the books with the payments that a driver saw accepted.
@Suite struct AuditReportTests {
    private func verdict(_ reason: TransactionReason) -> String {
        var books = TransactionBooks(id: TransactionID(number: 7))
        let time = StoreTime(millisecondsSinceEpoch: 0)
        books.entry = TransactionBooks.Entry(
            accountID: AccountID(unchecked: "ada"),
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.pro,
            quantity: 1,
            originalID: books.id,
            reason: reason,
            state: .failed,
            price: SampleCatalog.usd(0),
            deliveryCount: 0,
            grantsEntitlement: true,
            isFinished: nil,
            isRevoked: false,
            requestedAt: time,
            changedAt: time
        )
        var answer = Reconciliation(since: nil, until: time)
        answer.transactions = [books]
        return AuditReport(of: answer, accepted: []).verdict
    }

    @Test func whatTheStoreMakesByItselfNobodyHasToHaveAskedFor() {
        #expect(verdict(.purchase) == "0 lost, 1 doubled")
        #expect(verdict(.renewal) == "0 lost, 0 doubled")
        #expect(verdict(.familyShared) == "0 lost, 0 doubled")
    }

    /// A processor refuses to refund what is disputed, and the store wins the dispute.
    @Test func onlyTheRefundThatAWonDisputeStoppedIsLeftToAPerson() {
        func verdict(_ refund: Reconciliation.Difference.PeriodRefund?) -> String {
            var answer = Reconciliation(since: nil, until: StoreTime(millisecondsSinceEpoch: 0))
            let difference = Reconciliation.Difference(
                kind: "periodRefundDiffers",
                effect: .wrong,
                transactionID: TransactionID(number: 1),
                detail: "0 of 7 are refunded instead of 42",
                refund: refund
            )
            answer.differences = [difference]
            let won: Set = [TransactionID(number: 7)]
            return AuditReport(of: answer, accepted: [], wonDisputes: won).verdict
        }
        func refund(
            of number: Int64,
            _ refunded: Int64,
            due: Int64
        ) -> Reconciliation.Difference.PeriodRefund {
            Reconciliation.Difference.PeriodRefund(
                transactionID: TransactionID(number: number),
                refunded: refunded,
                due: due
            )
        }
        #expect(verdict(refund(of: 7, 0, due: 42)) == "0 lost, 0 doubled")
        let wrong = "0 lost, 0 doubled, 1 otherwise wrong"
        // Its text does not decide.
        #expect(verdict(nil) == wrong)
        #expect(verdict(refund(of: 8, 0, due: 42)) == wrong)
        #expect(verdict(refund(of: 7, 1, due: 42)) == wrong)
        #expect(verdict(refund(of: 7, 0, due: 0)) == wrong)
    }
}

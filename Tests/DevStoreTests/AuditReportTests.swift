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
        func verdict(_ kind: String, _ detail: String) -> String {
            var answer = Reconciliation(since: nil, until: StoreTime(millisecondsSinceEpoch: 0))
            let difference = Reconciliation.Difference(
                kind: kind,
                effect: .wrong,
                transactionID: TransactionID(number: 1),
                detail: detail
            )
            answer.differences = [difference]
            let won: Set = [TransactionID(number: 7)]
            return AuditReport(of: answer, accepted: [], wonDisputes: won).verdict
        }
        let unpaid = "0 of 7 are refunded instead of 42"
        #expect(verdict("periodRefundDiffers", unpaid) == "0 lost, 0 doubled")
        let wrong = "0 lost, 0 doubled, 1 otherwise wrong"
        #expect(verdict("refundDiffers", unpaid) == wrong)
        #expect(verdict("periodRefundDiffers", "0 of 8 are refunded instead of 42") == wrong)
        #expect(verdict("periodRefundDiffers", "1 of 7 are refunded instead of 42") == wrong)
    }
}

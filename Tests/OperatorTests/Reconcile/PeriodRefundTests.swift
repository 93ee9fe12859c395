import EventTypes
import StoreAPI
import Subscriptions
import Testing

@testable import OperatorCore

/// The refund of a period in the answer of `counterfoil reconcile --json`.
@Suite struct PeriodRefundTests {
    @Test func theAnswerNamesTheRefundThatDiffers() {
        let (subscription, period) = (TransactionID(number: 1), TransactionID(number: 7))
        let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        let records = SubscriptionRecords(
            subscription: .club(subscription, from: start, to: start.advanced(by: .seconds(60))),
            isInItsPlace: true,
            action: nil
        )
        var finding = AuditFinding(
            invariant: .refundsAreRight,
            subscriptionID: subscription,
            problem: "0 of 7 are refunded instead of 42",
            refund: AuditFinding.PeriodRefund(transactionID: period, refunded: 0, due: 42)
        )
        var expected = Reconciliation.Difference(
            kind: "periodRefundDiffers",
            effect: .wrong,
            transactionID: subscription,
            detail: "0 of 7 are refunded instead of 42",
            refund: Reconciliation.Difference.PeriodRefund(
                transactionID: period,
                refunded: 0,
                due: 42
            )
        )
        #expect(records.difference(of: finding).answer == expected)
        finding.refund = nil
        expected.refund = nil
        #expect(records.difference(of: finding).answer == expected)
    }
}

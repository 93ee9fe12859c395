import ClockAndIDs
import EventTypes
import TestSupport
import Testing

@testable import Payments

/// The share of a member in a purchase, given and taken away.
@Suite struct FamilyShareRulesTests {
    private let bob = AccountID(unchecked: "bob")

    /// The refund may be committed after it was seen that the member lacks the purchase.
    @Test func aShareOfAPurchaseThatIsBeingRefundedIsTakenAwayLikeAnyOther() throws {
        var purchase = TransactionRecord(
            transaction: transaction(.purchased),
            taxBasisPoints: 1900
        )
        let refundedAt = startTime.advanced(by: .seconds(1))
        purchase.transaction.refunds = [
            Refund(number: 1, amount: usd(999), refundedAt: refundedAt, revokes: true)
        ]
        purchase.transaction.revokedAt = refundedAt
        let share = FamilyShareRules.share(
            of: purchase,
            with: bob,
            as: TransactionID(number: 9),
            at: startTime.advanced(by: .seconds(2))
        )
        #expect(share.transaction.revokedAt == nil && share.transaction.refunds == nil)

        let time = startTime.advanced(by: .seconds(3))
        let revoked = try #require(FamilyShareRules.revoked(share, at: time, drawing: .random))
        #expect(revoked.transaction.version == 2)
        #expect(revoked.transaction.revokedAt == time)
        #expect(revoked.transaction.refunds?.map(\.refundedAt) == [time])
    }
}

import EventTypes
import Testing

@testable import Operator
@testable import OperatorCore

/// The signed transactions of a subscription's periods, as they are compared with it.
@Suite struct SubscriptionSignaturesTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let end = start.advanced(by: .seconds(30 * 86_400))
    private static let id = TransactionID(number: 7)

    private static let subscription = Subscription.club(id, from: start, to: end)

    /// The differences of a period that was signed with an end and a price.
    private static func differences(
        isUpgraded: Bool = false,
        isRevoked: Bool = false,
        end: StoreTime? = Self.end,
        price: Int64? = 2990,
        refunds: [Refund] = [],
        known version: Int = 1
    ) -> [String] {
        var records = SubscriptionRecords(
            subscription: subscription,
            isInItsPlace: true,
            action: nil
        )
        var view = subscription
        view.version = version
        records.views[.receipts] = SubscriptionRecords.View(subscription: view)
        records.payments = [
            SubscriptionRecords.Payment(
                id: id,
                state: .purchased,
                requestedAt: start,
                refunds: refunds,
                charge: nil
            )
        ]
        records.signed[id] = SubscriptionRecords.SignedPeriod(
            isUpgraded: isUpgraded,
            isRevoked: isRevoked,
            end: end,
            price: price
        )
        return records.signedDifferences.map(\.detail)
    }

    @Test func aPeriodIsSignedWithItsOwnEnd() {
        #expect(Self.differences(end: Self.end) == [])
        let sooner = Self.differences(end: Self.start)
        #expect(
            sooner == ["receipts has signed \(Self.id) until \(Self.start) instead of \(Self.end)"]
        )
        let never = Self.differences(isUpgraded: true, end: nil)
        #expect(
            never == [
                "receipts has signed \(Self.id) as upgraded",
                "receipts has signed \(Self.id) until no date instead of \(Self.end)",
            ]
        )
    }

    @Test func aPeriodIsSignedWithItsOwnPrice() {
        let other = Self.differences(price: 1)
        #expect(other == ["receipts has signed \(Self.id) for 1 instead of 2990"])
        let none = Self.differences(price: nil)
        #expect(none == ["receipts has signed \(Self.id) for no price instead of 2990"])
    }

    @Test func aPeriodIsSignedAsRevokedWhileARefundStandsThatRevokesIt() {
        var refund = Refund(
            number: 1,
            amount: Self.subscription.period.price,
            refundedAt: Self.start,
            revokes: true
        )
        #expect(Self.differences(isRevoked: true, refunds: [refund]) == [])
        let missed = Self.differences(refunds: [refund])
        #expect(missed == ["receipts has signed \(Self.id) as not revoked"])
        refund.reversedAt = Self.end
        let kept = Self.differences(isRevoked: true, refunds: [refund])
        #expect(kept == ["receipts has signed \(Self.id) as revoked"])
        refund.revokes = false
        #expect(Self.differences(refunds: [refund]) == [])
    }

    @Test func aSignatureOfAnotherVersionIsNotCompared() {
        #expect(Self.differences(end: Self.start, known: 2) == [])
    }
}

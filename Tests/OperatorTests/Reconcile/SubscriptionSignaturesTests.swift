import EventTypes
import Testing

@testable import Operator

/// The signed transactions of a subscription's periods, as they are compared with it.
@Suite struct SubscriptionSignaturesTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let end = start.advanced(by: .seconds(30 * 86_400))
    private static let id = TransactionID(number: 7)

    private static let subscription = Subscription.club(id, from: start, to: end)

    /// The differences of a period that was signed with an end.
    private static func differences(
        isUpgraded: Bool = false,
        end: StoreTime?,
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
        records.signed[id] = SubscriptionRecords.SignedPeriod(isUpgraded: isUpgraded, end: end)
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

    @Test func aSignatureOfAnotherVersionIsNotCompared() {
        #expect(Self.differences(end: Self.start, known: 2) == [])
    }
}

import EventTypes
import Testing

@testable import OperatorCore

/// The words for the purchases of an account.
@Suite struct AccountStoryTests {
    private static let time = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func stand(
        _ state: String,
        isDelivered: Bool = false,
        isRevoked: Bool = false,
        isFinished: Bool = false
    ) -> AccountStory.Stand {
        AccountStory.Purchase(
            transactionID: TransactionID(number: 7),
            bundleID: BundleID(unchecked: "app"),
            productID: "coins",
            state: state,
            isDelivered: isDelivered,
            isRevoked: isRevoked,
            finishedAt: isFinished ? time : nil,
            changedAt: time
        ).stand
    }

    @Test func aFailedPurchaseIsNoSuccessOnceItIsFinished() {
        #expect(Self.stand("failed") == .init("failed, not finished", .waiting))
        #expect(Self.stand("failed", isFinished: true) == .init("failed", .over))
    }

    @Test func aPaidPurchaseIsDoneOnceItIsFinished() {
        #expect(Self.stand("purchased") == .init("not delivered yet", .late))
        #expect(
            Self.stand("purchased", isDelivered: true) == .init("delivered, not finished", .waiting)
        )
        #expect(
            Self.stand("purchased", isDelivered: true, isFinished: true) == .init("finished", .done)
        )
    }

    @Test func aRefundIsSaidBeforeAndAfterTheFinish() {
        #expect(Self.stand("purchased", isRevoked: true) == .init("refunded", .waiting))
        let finished = Self.stand("purchased", isRevoked: true, isFinished: true)
        #expect(finished == .init("finished, refunded", .done))
    }

    @Test func whatIsNotDecidedYetWaits() {
        #expect(Self.stand("deferred") == .init("waits for approval", .waiting))
        #expect(Self.stand("purchasing") == .init("under way", .waiting))
    }
}

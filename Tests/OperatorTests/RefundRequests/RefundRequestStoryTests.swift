import ClockAndIDs
import EventTypes
import Seals
import StoreAPI
import TestSupport
import Testing

@testable import OperatorCore

/// The requests for refunds, and the shares of families, as `why` tells them.
@Suite struct RefundRequestStoryTests {
    private let id = TransactionID(number: 1_000_001)
    private let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private let price = Money(minorUnits: 99, currency: Currency(unchecked: "USD"))

    private var transaction: Transaction {
        Transaction(
            id: id,
            originalID: id,
            reason: .purchase,
            version: 1,
            state: .purchased,
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins"),
            productVersion: 1,
            productType: .consumable,
            quantity: 1,
            storefront: Storefront(unchecked: "USA"),
            price: price,
            applicationUsername: nil,
            deliveryPlan: [.app],
            requestedAt: start
        )
    }

    private func event(
        _ request: RequestedRefund,
        after milliseconds: Int64,
        by act: Act? = nil
    ) -> StoryEvent {
        let time = start.advanced(by: .milliseconds(milliseconds))
        var event = StoryEvent(
            id: EventID(time: time),
            type: .refundRequestChanged,
            topic: Topics.paymentsTransactions.name,
            key: "ada",
            place: LogPlace(xid: UInt64(milliseconds), position: 1),
            time: time,
            traceID: nil,
            isPublished: true
        )
        (event.request, event.act) = (request, act)
        return event
    }

    private func story(
        _ reason: TransactionReason = .purchase,
        _ events: [StoryEvent] = []
    ) -> Story {
        var chapter = PaymentsChapter(
            id: id,
            originalID: id,
            state: .purchased,
            accountID: transaction.accountID,
            bundleID: transaction.bundleID,
            productID: transaction.productID,
            quantity: 1,
            price: price,
            storefront: transaction.storefront,
            requestedAt: start,
            purchasedAt: start,
            failureReason: nil,
            revokedAt: nil,
            finishedAt: nil
        )
        chapter.reason = reason
        chapter.events = events
        let now = start.advanced(by: .seconds(60))
        return StoryRules(
            payments: chapter,
            receipts: ReceiptsChapter(),
            fulfillment: FulfillmentChapter(),
            marks: [:],
            now: now,
            machineTime: now.onMachines
        ).story
    }

    @Test func aRequestIsToldWithWhoDecidedIt() {
        let open = RequestedRefund(number: 1, of: transaction, because: .unsatisfied, at: start)
        var declined = open
        declined.state = .declined
        let act = Act(
            decidedBy: AdministratorName(unchecked: "mia"),
            reason: ActReason(rawValue: "played for a week")
        )
        let story = story(.purchase, [event(open, after: 1), event(declined, after: 2, by: act)])
        let texts = story.steps.filter { $0.kind == "state" }.map(\.text)
        #expect(
            texts.dropFirst() == [
                "the buyer asked for a refund: unsatisfied (request 1)",
                "request 1 declined by mia: played for a week",
            ]
        )
        #expect(story.refundRequest == declined)
    }

    @Test func aShareSaysWhereItComesFrom() {
        let text = story(.familyShared).steps.first?.text
        #expect(text == "a member of the family bought it and shares")
        #expect(story().steps.first?.text.hasPrefix("asked for 0.99 USD") == true)
    }
}

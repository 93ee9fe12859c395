import ClockAndIDs
import EventTypes
import Seals
import StoreAPI
import TestSupport
import Testing

@testable import Operator
@testable import OperatorCore

/// The output of `why`, by values alone.
@Suite struct StoryTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let usd = Currency(unchecked: "USD")
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func after(_ milliseconds: Int64) -> StoreTime {
        start.advanced(by: .milliseconds(milliseconds))
    }

    private static func event(
        _ type: EventType,
        _ topic: Topic,
        after milliseconds: Int64,
        isPublished: Bool = true
    ) -> StoryEvent {
        StoryEvent(
            id: EventID(time: after(milliseconds)),
            type: type,
            topic: topic.name,
            key: "ada",
            place: LogPlace(xid: UInt64(milliseconds), position: 1),
            time: after(milliseconds),
            traceID: trace,
            isPublished: isPublished
        )
    }

    private static func payments(
        _ state: TransactionState = .purchased,
        events: [StoryEvent] = [],
        of original: Int64 = 1_000_001
    ) -> PaymentsChapter {
        var chapter = PaymentsChapter(
            id: TransactionID(number: 1_000_001),
            originalID: TransactionID(number: original),
            state: state,
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins"),
            quantity: 1,
            price: Money(minorUnits: 99, currency: usd),
            storefront: Storefront(unchecked: "USA"),
            requestedAt: start,
            purchasedAt: state == .purchased ? after(8) : nil,
            failureReason: state == .failed ? "declined" : nil,
            revokedAt: nil,
            finishedAt: nil
        )
        chapter.events = events
        return chapter
    }

    private static func story(
        _ payments: PaymentsChapter,
        _ receipts: ReceiptsChapter = ReceiptsChapter(),
        _ fulfillment: FulfillmentChapter = FulfillmentChapter(),
        _ marks: [ServiceName: ConsumerMarks] = [:]
    ) -> Story {
        StoryRules(
            payments: payments,
            receipts: receipts,
            fulfillment: fulfillment,
            marks: marks,
            now: after(60_000),
            machineTime: after(60_000).onMachines
        ).story
    }

    @Test func aRenewalHasAnOrderOfItsOwnAndACopyThatOfItsOriginal() {
        var chapter = Self.payments(of: 1_000_000)
        chapter.reason = .renewal
        #expect(Self.story(chapter).orderID == OrderID(chapter.id))
        chapter.reason = .restore
        #expect(Self.story(chapter).orderID == OrderID(chapter.originalID))
    }

    @Test func stepsStandInTheOrderOfTimeAndOfCausesWithinAMillisecond() {
        var payments = Self.payments(
            events: [Self.event(.transactionPurchased, Topics.paymentsTransactions, after: 8)]
        )
        payments.processor = [
            .init(
                kind: .charge,
                money: Money(minorUnits: 99, currency: Self.usd),
                declineReason: nil,
                time: Self.after(5)
            )
        ]
        payments.postings = [
            .init(
                kind: "purchase",
                time: Self.after(8),
                entries: [("buyer:ada", Money(minorUnits: -99, currency: Self.usd))]
            )
        ]
        let steps = Self.story(payments).steps
        #expect(steps.map(\.kind) == ["state", "charge", "posting", "event"])
        #expect(steps[1].text == "charged 0.99 USD")
        #expect(steps[2].text == "posted purchase: buyer:ada -0.99 USD")
        #expect(steps[3].traceID == Self.trace)
    }

    @Test func theWaitForTheBuyerAndItsEndAreTold() {
        let topic = Topics.paymentsTransactions
        let payments = Self.payments(
            .purchasing,
            events: [
                Self.event(.transactionPurchasing, Topics.paymentsPurchasing, after: 1),
                Self.event(.transactionWaitChanged, topic, after: 2),
                Self.event(.transactionWaitChanged, topic, after: 3),
                Self.event(.transactionWaitChanged, topic, after: 4),
            ]
        )
        let steps = Self.story(payments).steps.filter { $0.kind == "event" }.dropFirst()
        let begun = "began to wait for its buyer, who has to confirm the charge"
        let expected = [begun, "no longer waits for its buyer", begun]
        #expect(steps.count == expected.count)
        for (step, text) in zip(steps, expected) {
            // Nobody has acted on it yet.
            #expect(step.text == text + ", not done yet by fulfillment")
        }
    }

    @Test func actsAreToldWithWhoDecidedAndWhy() {
        func act(_ type: EventType, after milliseconds: Int64, _ reason: String?) -> StoryEvent {
            var event = Self.event(type, Topics.paymentsTransactions, after: milliseconds)
            event.act = Act(
                decidedBy: AdministratorName(unchecked: "mia"),
                reason: reason.flatMap(ActReason.init(rawValue:))
            )
            return event
        }
        var payments = Self.payments(
            events: [
                act(.transactionApproved, after: 8, "the parents agreed"),
                act(.transactionRefunded, after: 9, "damaged"),
                act(.transactionRefundReversed, after: 10, nil),
            ]
        )
        var refund = Refund(
            number: 1,
            amount: Money(minorUnits: 99, currency: Self.usd),
            refundedAt: Self.after(9),
            revokes: true
        )
        refund.reversedAt = Self.after(10)
        payments.refunds = [refund]
        let steps = Self.story(payments).steps.filter { $0.kind == "state" }.map(\.text)
        #expect(
            steps.dropFirst() == [
                "approved by mia: the parents agreed",
                "refunded 0.99 USD by mia: damaged (refund 1, which takes the product away)",
                "refund 1 reversed by mia",
            ]
        )
    }

    @Test func whatAConsumerHasNotDoneIsNamedWithWhereToLook() {
        let event = Self.event(.transactionPurchased, Topics.paymentsTransactions, after: 8)
        let waiting = Self.story(Self.payments(events: [event]))
        #expect(waiting.steps.last?.text.hasSuffix("not done yet by receipts") == true)
        #expect(waiting.waitsFor.count == 1)
        #expect(waiting.waitsFor.first?.contains("counterfoil lag") == true)

        // Fulfillment passes it by, so it owes nothing.
        let done = ConsumerMarks(done: [event.id])
        #expect(
            Self.story(Self.payments(events: [event]), marks: [.receipts: done]).waitsFor == []
        )

        var dead = ConsumerMarks()
        dead.letters[event.id] = (12, "dead")
        dead.blocker = 12
        let blocked = Self.story(Self.payments(events: [event]), marks: [.receipts: dead])
        #expect(
            blocked.waitsFor == [
                """
                receipts could not apply transaction.purchased.v1: \
                counterfoil dead-letters show receipts 12
                """
            ]
        )
        #expect(blocked.steps.last?.isProblem == true)
    }

    @Test func aDeadLetterOfAnotherPurchaseIsNamedToo() {
        let marks = [ServiceName.receipts: ConsumerMarks(blocker: 7)]
        let lines = Self.story(Self.payments(), marks: marks).waitsFor
        #expect(lines.count == 1)
        #expect(lines.first?.contains("Another event of ada is dead in receipts") == true)
    }

    @Test func anEventThatTheBrokerDoesNotHaveIsSaidToBe() {
        let event = Self.event(
            .transactionPurchased,
            Topics.paymentsTransactions,
            after: 8,
            isPublished: false
        )
        let story = Self.story(Self.payments(events: [event]))
        #expect(story.waitsFor.count == 1)
        #expect(story.waitsFor.first?.contains("is not published after 59 s") == true)
    }

    private static let undecided: [(TransactionState, String?, String)] = [
        (.deferred, nil, "counterfoil approve 1000001, or decline 1000001"),
        (.purchasing, nil, "payments has not decided"),
        (
            .purchasing, "awaiting_action",
            """
            The buyer has to confirm the charge, as with 3-D Secure; payments asks the processor \
            again in 30 s.
            """
        ),
        (
            .purchasing, "processing",
            """
            The processor has begun the charge and has not decided; payments asks again in 30 s.
            """
        ),
        (
            .purchasing, "calling",
            "payments asks the processor for an outcome (1 calls without one); again in 30 s."
        ),
    ]

    @Test(arguments: undecided)
    func aPaymentWithoutAnOutcomeSaysWhoDecides(
        state: TransactionState,
        step: String?,
        text: String
    ) {
        var payments = Self.payments(state)
        if let step {
            payments.attempts = [
                .init(
                    kind: "charge",
                    step: step,
                    paymentMethod: "sandbox_needs_action",
                    callCount: 1,
                    dueAt: Self.after(90_000).onMachines,
                    waitsFor: nil
                )
            ]
        }
        #expect(Self.story(payments).waitsFor.first?.contains(text) == true)
    }

    @Test func aRefundThatFailedIsToldUntilAnotherOneIsMade() {
        var payments = Self.payments()
        payments.attempts = [("charge", "settled"), ("refund", "failed"), ("reversal", "settled")]
            .map { Self.attempt($0, $1) }
        let text = "The processor could not make the last refund, so no money moved for it."
        #expect(Self.story(payments).waitsFor == [text])
        payments.attempts.insert(Self.attempt("refund", "calling"), at: 2)
        #expect(Self.story(payments).waitsFor == ["payments asks the processor for the refund."])
        payments.attempts[2] = Self.attempt("refund", "settled")
        #expect(Self.story(payments).waitsFor == [])
    }

    @Test func aLostChargeIsSearchedForAndNamed() {
        var payments = Self.payments(.purchasing)
        payments.attempts = [Self.attempt("charge", "calling")]
        (payments.attempts[0].isInDoubt, payments.attempts[0].isTakenOver) = (true, true)
        let (money, time) = (payments.price, Self.start)
        payments.processor = [.init(kind: .charge, money: money, declineReason: nil, time: time)]
        #expect(Self.story(payments).waitsFor.contains { $0.contains("may have lost; again") })
        #expect(Self.story(payments).steps.contains { $0.text.hasSuffix("it is taken over") })
    }

    private static func attempt(
        _ kind: String,
        _ step: String,
        at account: String? = nil
    ) -> PaymentsChapter.Attempt {
        PaymentsChapter.Attempt(
            kind: kind,
            step: step,
            paymentMethod: "pm_1",
            callCount: 1,
            dueAt: nil,
            waitsFor: nil,
            account: account
        )
    }

    @Test(arguments: [(nil, ""), ("games", ", account games")] as [(String?, String)])
    func aDisputeNamesTheAccountWhereItIsAnswered(account: String?, words: String) {
        var payments = Self.payments()
        let price = Money(minorUnits: 99, currency: Self.usd)
        var refund = Refund(number: 1, amount: price, refundedAt: Self.after(9), revokes: true)
        refund.dispute = "dp_1"
        payments.refunds = [refund]
        payments.attempts = [Self.attempt("charge", "settled", at: account)]
        let found = Self.story(payments).steps.map(\.text).filter { $0.contains("dp_1") }
        let text = "taken back by the buyer's bank: 0.99 USD, dispute dp_1\(words)"
        #expect(found == [text + " (refund 1, which takes the product away)"])
    }

    @Test func aWebhookThatIsNotConfirmedTellsItsAnswerAndItsNextTry() {
        var fulfillment = FulfillmentChapter()
        fulfillment.isQueued = true
        fulfillment.deliveries = [
            .init(
                target: "1:webhook",
                kind: "webhook",
                host: "shop.example.com",
                state: "pending",
                attempts: 4,
                lastAttemptAt: Self.after(30_000).onMachines,
                lastResult: "STATUS_503",
                nextAttemptAt: Self.after(90_000).onMachines,
                deliveredAt: nil
            )
        ]
        let story = Self.story(Self.payments(), fulfillment: fulfillment)
        #expect(
            story.waitsFor == [
                """
                The webhook to shop.example.com is not confirmed (STATUS_503 after 4 tries); \
                again in 30 s.
                """
            ]
        )
        #expect(story.steps.last?.text == "called 1:webhook to shop.example.com, try 4: STATUS_503")
    }

    @Test func whatIsDeliveredWaitsForTheApp() {
        var fulfillment = FulfillmentChapter()
        (fulfillment.isQueued, fulfillment.isDelivered) = (true, true)
        #expect(
            Self.story(Self.payments(), fulfillment: fulfillment).waitsFor
                == ["The app has not finished it: it stays in the queue of ada."]
        )
        fulfillment.finishedAt = Self.after(2_000)
        #expect(Self.story(Self.payments(), fulfillment: fulfillment).waitsFor == [])
    }

    @Test func theScreenHasTheOrderTheTraceAndEachStepOnce() {
        var fulfillment = FulfillmentChapter()
        (fulfillment.isQueued, fulfillment.isDelivered) = (true, true)
        fulfillment.finishedAt = Self.after(2_500)
        let event = Self.event(.transactionPurchased, Topics.paymentsTransactions, after: 8)
        let story = Self.story(
            Self.payments(events: [event]),
            fulfillment: fulfillment,
            marks: [.receipts: ConsumerMarks(done: [event.id])]
        )
        #expect(
            story.lines(.plain).joined(separator: "\n") == """
                Transaction 1000001, order \(OrderID(TransactionID(number: 1_000_001)))
                ada (com.example.app): 1 × com.example.coins, 0.99 USD, USA; purchased
                trace \(Self.trace)

                TIME (2026-11-21, UTC)  AFTER  WHERE        WHAT
                05:00:00.000             0 ms  payments     asked for 0.99 USD (no charge)
                05:00:00.008             8 ms  payments     event transaction.purchased.v1, done by receipts
                05:00:02.500              2 s  fulfillment  the app finished it

                Nothing is left to do.
                """
        )
    }

    @Test func aPurchaseIsNamedByItsTransactionItsOrderOrItsAccount() {
        let id = TransactionID(number: 1_000_001)
        #expect(StorySubject("1000001") == .transaction(id))
        #expect(StorySubject("\(OrderID(id))") == .transaction(id))
        #expect(StorySubject("ada") == .account(AccountID(unchecked: "ada")))
        #expect(
            StorySubject("1000001", isAccount: true) == .account(AccountID(unchecked: "1000001"))
        )
        // A digit that was misread is no order; it can only be an account.
        #expect(StorySubject("W000YGJ16") == .account(AccountID(unchecked: "W000YGJ16")))
        #expect(StorySubject("a b") == nil)
        #expect(StorySubject("") == nil)
    }
}

extension StoryTests {
    private static func story(
        _ payments: PaymentsChapter,
        fulfillment: FulfillmentChapter = FulfillmentChapter(),
        marks: [ServiceName: ConsumerMarks] = [:]
    ) -> Story {
        story(payments, ReceiptsChapter(), fulfillment, marks)
    }
}

import EventTypes
import Testing

@testable import Operator

/// What is a difference, by values alone.
@Suite struct ReconcileTests {
    private static let id = TransactionID(number: 1_000_001)
    private static let time = Timestamp(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let price = Money(minorUnits: 99, currency: Currency(unchecked: "USD"))

    /// One of which all books agree: purchased, charged, posted, signed, delivered, finished.
    private static let whole: TransactionBooks = {
        var books = TransactionBooks(id: id)
        books.entry = .init(
            state: .purchased,
            price: price,
            deliveryCount: 1,
            isFinished: true,
            isRevoked: false,
            changedAt: time
        )
        books.charges = [.init(amount: price, isReturned: false, changedAt: time)]
        books.postings = [
            .init(kind: "purchase", amount: price, isBalanced: true, postedAt: time)
        ]
        books.receipt = .init(isRevoked: false, signedAt: time)
        books.isFinishedInReceipts = true
        books.queued = .init(
            state: .purchased,
            isDelivered: true,
            isFinished: true,
            changedAt: time,
            deliveries: 1,
            delivered: 1,
            credits: 1,
            grants: 1
        )
        return books
    }()

    private static func kinds(
        _ change: (inout TransactionBooks) -> Void
    ) -> [Difference.Kind] {
        var books = whole
        change(&books)
        return ReconcileRules.differences(in: books).map(\.kind)
    }

    @Test func whatAllBooksAgreeOnIsNoDifference() {
        #expect(Self.kinds { _ in } == [])
    }

    @Test func eachBookThatLacksItIsNamed() {
        #expect(Self.kinds { $0.charges = [] } == [.notCharged])
        #expect(Self.kinds { $0.postings = [] } == [.notPosted])
        #expect(Self.kinds { $0.receipt = nil } == [.noReceipt])
        #expect(Self.kinds { $0.queued = nil } == [.notQueued])
        #expect(Self.kinds { $0.queued?.delivered = 0 } == [.undelivered])
        #expect(Self.kinds { $0.queued?.isDelivered = false } == [.undelivered])
        #expect(Self.kinds { $0.entry?.deliveryCount = 2 } == [.undelivered])
        #expect(Self.kinds { $0.queued?.grants = 0 } == [.creditsDiffer])
        #expect(Self.kinds { $0.entry?.isFinished = false } == [.finishDiffers])
        #expect(Self.kinds { $0.isFinishedInReceipts = false } == [.finishDiffers])
    }

    @Test func whatIsThereTwiceOrForAnotherAmountIsNamed() {
        #expect(Self.kinds { $0.charges += $0.charges } == [.chargedTwice])
        let other = Money(minorUnits: 98, currency: Self.price.currency)
        #expect(Self.kinds { $0.charges[0].amount = other } == [.amountDiffers])
        #expect(Self.kinds { $0.postings[0].amount = other } == [.amountDiffers])
        #expect(Self.kinds { $0.postings[0].isBalanced = false } == [.unbalanced])
        #expect(Self.kinds { $0.queued?.state = .purchasing } == [.queueDiffers])
    }

    @Test func whatFollowsFromADifferenceIsNotNamedBesideIt() {
        #expect(
            Self.kinds {
                $0.receipt = nil
                $0.queued?.state = .purchasing
                $0.queued?.isDelivered = false
                $0.queued?.delivered = 0
            } == [.noReceipt]
        )
    }

    @Test func aRefundIsInAllBooksOrInNone() {
        func refunded(_ books: inout TransactionBooks) {
            books.entry?.isRevoked = true
            books.charges[0].isReturned = true
            books.receipt?.isRevoked = true
            books.postings.append(
                .init(
                    kind: "refund",
                    amount: Self.price.negated,
                    isBalanced: true,
                    postedAt: Self.time
                )
            )
        }
        #expect(Self.kinds(refunded) == [])
        #expect(
            Self.kinds {
                refunded(&$0); $0.charges[0].isReturned = false
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refunded(&$0); $0.postings.removeLast()
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refunded(&$0); $0.receipt?.isRevoked = false
            } == [.receiptNotRevoked]
        )
        #expect(Self.kinds { $0.charges[0].isReturned = true } == [.refundDiffers])
    }

    @Test func whoHasNotPurchasedHasNothing() {
        func failed(_ books: inout TransactionBooks) {
            books.entry?.state = .failed
            books.queued?.state = .failed
        }
        #expect(
            Self.kinds(failed) == [
                .chargedWithoutPurchase, .postedWithoutPurchase, .receiptWithoutPurchase,
                .deliveredWithoutPurchase,
            ]
        )
        #expect(
            Self.kinds {
                failed(&$0)
                ($0.charges, $0.postings, $0.receipt) = ([], [], nil)
                $0.queued?.delivered = 0
            } == []
        )
        // A charge that went astray and was given back is no difference.
        #expect(
            Self.kinds {
                failed(&$0)
                ($0.postings, $0.receipt) = ([], nil)
                $0.queued?.delivered = 0
                $0.charges[0].isReturned = true
            } == []
        )
    }

    @Test func whatWaitsForPeopleIsNoDifference() {
        #expect(
            Self.kinds {
                $0.entry?.isFinished = false
                $0.isFinishedInReceipts = false
                $0.queued?.isFinished = false
            } == []
        )
        #expect(
            Self.kinds {
                $0.entry?.state = .deferred
                $0.entry?.isFinished = false
                ($0.charges, $0.postings, $0.receipt) = ([], [], nil)
                $0.isFinishedInReceipts = false
                $0.queued = .init(
                    state: .deferred,
                    isDelivered: false,
                    isFinished: false,
                    changedAt: Self.time
                )
            } == []
        )
    }

    @Test func whatPaymentsDoesNotKnowIsNamedInEveryBook() {
        #expect(
            Self.kinds { $0.entry = nil }
                == [.queuedWithoutPurchase, .receiptWithoutPurchase, .postedWithoutPurchase]
        )
    }

    @Test func everyKindSaysWhatToDo() {
        for kind in Difference.Kind.allCases {
            #expect(kind.advice.hasSuffix("."), "\(kind)")
            #expect(!kind.title.isEmpty)
        }
    }

    @Test func theReportCountsAllAndKeepsAFew() {
        var report = ReconcileReport(since: nil, until: Self.time, limit: 2)
        report.add(Self.whole, isDue: true)
        report.add(Self.whole, isDue: false)
        var lacking = Self.whole
        lacking.receipt = nil
        for _ in 0..<5 { report.add(lacking, isDue: true) }
        #expect(report.compared == 6 && report.onTheirWay == 1)
        #expect(report.differences.count == 2)
        #expect(report.differenceCounts == ["noReceipt": 5])
        let text = report.lines(.plain).joined(separator: "\n")
        #expect(
            text == """
                BOOK        COUNT   USD
                payments        6  5.94
                processor       6  5.94
                ledger          6  5.94
                receipts        1
                deliveries      6

                6 transactions compared; 1 on their way, left out

                5 purchased, and without a receipt
                  \(Difference.Kind.noReceipt.advice)
                  1000001  purchased
                  1000001  purchased
                  … and 3 more: --limit
                """
        )
    }

    @Test(arguments: [
        ("2026-11-21T00:00:00Z", 1_795_219_200_000), ("24h", 1_795_150_800_000),
        ("90min", 1_795_231_800_000), ("7d", 1_794_632_400_000), ("0s", 1_795_237_200_000),
    ])
    func aTimeIsAMomentOrHowLongAgo(text: String, milliseconds: Int64) {
        #expect(
            ReconcileCommand.time(text, before: Self.time)?.millisecondsSinceEpoch == milliseconds
        )
    }

    @Test(arguments: ["", "h", "-1h", "yesterday", "2026-11-21", "1.5h", "9999999999d"])
    func whatIsNoTimeIsRefused(text: String) {
        #expect(ReconcileCommand.time(text, before: Self.time) == nil)
    }
}

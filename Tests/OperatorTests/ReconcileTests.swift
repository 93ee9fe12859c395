import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Operator
@testable import OperatorCore

/// The differences that `reconcile` finds, by values alone.
@Suite struct ReconcileTests {
    private static let id = TransactionID(number: 1_000_001)
    private static let time = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let price = Money(minorUnits: 99, currency: Currency(unchecked: "USD"))

    /// One of which all books agree: purchased, charged, posted, signed, delivered, finished.
    private static let whole: TransactionBooks = {
        var books = TransactionBooks(id: id)
        books.entry = .init(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.bundle"),
            quantity: 1,
            originalID: id,
            reason: .purchase,
            state: .purchased,
            price: price,
            deliveryCount: 2,
            grantsEntitlement: true,
            isFinished: true,
            isRevoked: false,
            requestedAt: time,
            changedAt: time,
            credits: ["coins": 100]
        )
        books.charges = [.init(amount: price, returned: .zero(price.currency), changedAt: time)]
        books.postings = [
            .init(kind: "purchase", amount: price, isBalanced: true, postedAt: time)
        ]
        books.receipts = [.init(isRevoked: false, signedAt: time)]
        books.isFinishedInReceipts = true
        books.queued = .init(
            state: .purchased,
            isDelivered: true,
            isFinished: true,
            changedAt: time,
            deliveries: [
                .init(target: "2:webhook", kind: "webhook", state: "delivered"),
                .init(target: "3:webhook", kind: "webhook", state: "delivered"),
            ],
            credits: [.init(unit: "coins", kind: "grant", amount: 100)],
            isEntitled: true
        )
        return books
    }()

    static func kinds(
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
        #expect(Self.kinds { $0.receipts = [] } == [.noReceipt])
        #expect(Self.kinds { $0.queued = nil } == [.notQueued])
        #expect(Self.kinds { $0.queued?.deliveries[0].state = "pending" } == [.undelivered])
        #expect(Self.kinds { $0.queued?.deliveries.removeFirst() } == [.undelivered])
        #expect(Self.kinds { $0.queued?.isDelivered = false } == [.undelivered])
        #expect(Self.kinds { $0.entry?.deliveryCount = 3 } == [.undelivered])
        #expect(Self.kinds { $0.queued?.credits = [] } == [.notCredited])
        #expect(Self.kinds { $0.queued?.credits[0].amount = 99 } == [.notCredited])
        #expect(Self.kinds { $0.queued?.isEntitled = false } == [.notEntitled])
        #expect(Self.kinds { $0.queued?.isEntitled = nil } == [.notEntitled])
        #expect(Self.kinds { $0.entry?.isFinished = false } == [.finishDiffers])
        #expect(Self.kinds { $0.isFinishedInReceipts = false } == [.finishDiffers])
    }

    @Test func whatIsThereTwiceOrForAnotherAmountIsNamed() {
        #expect(Self.kinds { $0.charges += $0.charges } == [.chargedTwice])
        #expect(Self.kinds { $0.postings += $0.postings } == [.postedTwice])
        #expect(Self.kinds { $0.receipts += $0.receipts } == [.receiptTwice])
        #expect(Self.kinds { $0.entry?.deliveryCount = 1 } == [.deliveredTwice])
        #expect(Self.kinds { $0.queued?.credits[0].amount = 200 } == [.creditedTooMuch])
        #expect(
            Self.kinds {
                $0.queued?.credits.append(.init(unit: "gems", kind: "grant", amount: 1))
            } == [.creditedTooMuch]
        )
        let other = Money(minorUnits: 98, currency: Self.price.currency)
        #expect(Self.kinds { $0.charges[0].amount = other } == [.amountDiffers])
        #expect(Self.kinds { $0.postings[0].amount = other } == [.amountDiffers])
        #expect(Self.kinds { $0.postings[0].isBalanced = false } == [.unbalanced])
        #expect(Self.kinds { $0.queued?.state = .purchasing } == [.queueDiffers])
    }

    @Test func whatFollowsFromADifferenceIsNotNamedBesideIt() {
        #expect(
            Self.kinds {
                $0.receipts = []
                $0.queued?.state = .purchasing
                $0.queued?.isDelivered = false
                $0.queued?.deliveries = []
            } == [.noReceipt]
        )
    }

    @Test func aRefundIsInAllBooksOrInNone() {
        func refunded(_ books: inout TransactionBooks) {
            books.entry?.isRevoked = true
            books.charges[0].returned = Self.price
            books.entry?.refunds = [Self.refund(Self.price.minorUnits, revokes: true)]
            books.receipts[0].isRevoked = true
            books.queued?.credits.append(.init(unit: "coins", kind: "revoke", amount: -100))
            books.queued?.isEntitled = false
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
                refunded(&$0); $0.charges[0].returned = .zero(Self.price.currency)
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refunded(&$0); $0.postings.removeLast()
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refunded(&$0); $0.receipts[0].isRevoked = false
            } == [.receiptNotRevoked]
        )
        #expect(
            Self.kinds {
                refunded(&$0); $0.queued?.credits.removeLast()
            } == [.creditedTooMuch]
        )
        #expect(
            Self.kinds {
                refunded(&$0); $0.queued?.isEntitled = true
            } == [.entitledDespiteRefund]
        )
        for (state, kinds) in [("delivered", []), ("pending", [Difference.Kind.undelivered])] {
            #expect(
                Self.kinds {
                    refunded(&$0)
                    $0.queued?.deliveries.append(
                        .init(target: "2:refund:1", kind: "webhook", state: state)
                    )
                } == kinds
            )
        }
        #expect(
            Self.kinds {
                refunded(&$0); $0.postings.append($0.postings[1])
            } == [.postedTwice]
        )
        #expect(Self.kinds { $0.charges[0].returned = Self.price } == [.refundDiffers])
    }

    private static func refund(
        _ amount: Int64,
        revokes: Bool = false,
        number: Int = 1,
        reversedAt: StoreTime? = nil
    ) -> Refund {
        Refund(
            number: number,
            amount: Money(minorUnits: amount, currency: price.currency),
            refundedAt: time,
            revokes: revokes,
            reversedAt: reversedAt
        )
    }

    @Test func refundsOfPartsAndTheirReversalsAreInAllBooks() {
        func refundedInParts(_ books: inout TransactionBooks) {
            books.entry?.refunds = [
                Self.refund(10), Self.refund(20, number: 2, reversedAt: Self.time),
                Self.refund(30, number: 3),
            ]
            func usd(_ amount: Int64) -> Money {
                Money(minorUnits: amount, currency: Self.price.currency)
            }
            books.charges[0].returned = usd(40)
            books.postings += [
                ("refund", -10), ("refund", -20), ("refund_reversal", 20), ("refund", -30),
            ].map { .init(kind: $0, amount: usd($1), isBalanced: true, postedAt: Self.time) }
        }
        #expect(Self.kinds(refundedInParts) == [])
        #expect(
            Self.kinds {
                refundedInParts(&$0); $0.charges[0].returned = Self.price
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refundedInParts(&$0); $0.postings.remove(at: 3)
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refundedInParts(&$0); $0.entry?.refunds[1].reversedAt = nil
            } == [.refundDiffers]
        )
        #expect(
            Self.kinds {
                refundedInParts(&$0); $0.postings.append($0.postings[3])
            } == [.postedTwice]
        )
        #expect(
            Self.kinds {
                refundedInParts(&$0); $0.entry?.refunds[0].revokes = true
            } == [.refundDiffers]
        )
    }

    @Test func whoHasNotPurchasedHasNothing() {
        func failed(_ books: inout TransactionBooks) {
            books.entry?.state = .failed
            books.queued?.state = .failed
        }
        #expect(
            Self.kinds(failed) == [
                .chargedWithoutPurchase, .postedWithoutPurchase, .receiptWithoutPurchase,
                .deliveredWithoutPurchase, .creditedTooMuch,
            ]
        )
        #expect(
            Self.kinds {
                failed(&$0)
                ($0.charges, $0.postings, $0.receipts) = ([], [], [])
                $0.queued?.deliveries = []
                $0.queued?.credits = []
            } == []
        )
        // A charge that went astray and was given back is no difference.
        #expect(
            Self.kinds {
                failed(&$0)
                ($0.postings, $0.receipts) = ([], [])
                $0.queued?.deliveries = []
                $0.queued?.credits = []
                $0.charges[0].returned = Self.price
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
                ($0.charges, $0.postings, $0.receipts) = ([], [], [])
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

    @Test func aCopyCreditsNothingAndOutlivesTheRefundOfItsOriginal() {
        func copied(_ books: inout TransactionBooks) {
            books.entry?.originalID = TransactionID(number: 1)
            books.entry?.reason = .restore
            books.entry?.credits = [:]
            books.queued?.credits = []
        }
        #expect(Self.kinds(copied) == [])
        #expect(
            Self.kinds {
                copied(&$0); $0.queued?.isEntitled = false
            } == []
        )
        #expect(
            Self.kinds {
                copied(&$0); $0.queued?.isEntitled = nil
            } == [.notEntitled]
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

    @Test func theReportCountsAllAndListsAFew() {
        var report = ReconcileReport(since: nil, until: Self.time, limit: 2)
        report.add(Self.whole, isDue: true)
        report.add(Self.whole, isDue: false)
        var lacking = Self.whole
        lacking.receipts = []
        for _ in 0..<5 { report.add(lacking, isDue: true) }
        let answer = report.answer
        #expect(answer.compared == 6 && answer.onTheirWay == 1)
        #expect(answer.differences.count == 2)
        #expect(answer.differenceCounts == ["noReceipt": 5])
        #expect(answer.lost == 5 && answer.doubled == 0 && answer.wrong == 0)
        #expect(answer.transactions == nil)
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

    @Test func aBalanceThatWasNeverToldOrNotLatelyIsSaid() {
        let now = MachineTime(millisecondsSinceEpoch: Self.time.millisecondsSinceEpoch)
        func note(toldAt told: MachineTime?, of account: String = "default") -> String? {
            var report = ReconcileReport(since: nil, until: Self.time, limit: 2)
            report.noteBalance(toldAt: told, at: now, of: account)
            #expect(report.differenceCount == 0)
            return report.lines(.plain).first { $0.contains("balance at the processor") }
        }
        #expect(note(toldAt: nil)?.contains("is not compared with the ledger yet") == true)
        let dayAgo = now.advanced(by: .seconds(-86_400))
        let told = dayAgo.advanced(by: .milliseconds(-1))
        #expect(note(toldAt: told)?.contains("as it was at \(told)") == true)
        #expect(note(toldAt: dayAgo) == nil)
        #expect(note(toldAt: told, of: "games")?.contains("\(told), account games.") == true)
    }

    @Test func transactionsAreListedOnDemandAndAtMostSoMany() throws {
        var report = ReconcileReport(
            since: nil,
            until: Self.time,
            limit: 2,
            listsTransactions: true
        )
        for _ in 0..<3 { report.add(Self.whole, isDue: true) }
        let text = try Console.prettyJSON(report.answer)
        let answer = try JSONDecoder().decode(Reconciliation.self, from: Data(text.utf8))
        #expect(answer == report.answer)
        #expect(answer.transactions == [Self.whole, Self.whole] && answer.compared == 3)
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

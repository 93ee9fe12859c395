import EventTypes
import StoreAPI
import Testing

@testable import PaymentQueue

/// Every payment begins in `purchasing` (spec rule 22), even if the store reports it only once it
/// is charged.
@Suite struct MissedPurchasingTests {
    /// The calls to observers: the product and the state, one list for each call.
    private static func reported(_ news: PendingTransactions.News) -> [[String]] {
        news.updates.map { call in
            call.map { "\($0.transaction.payment.productIdentifier) \($0.fields.state)" }
        }
    }

    /// A client whose first stream began at a revision.
    private func connected(at revision: Int64?) -> PendingTransactions {
        var pending = PendingTransactions()
        _ = pending.connected(QueueStreamHead(revision: revision, database: "a"))
        return pending
    }

    private func event(_ change: QueueChanged) throws -> ServerSentEventParser.Event {
        .init(
            id: "\(change.revision)",
            name: "transaction",
            data: try EventCoding.encode(change)
        )
    }

    @Test func aPurchaseOfAnotherDeviceIsReportedAsPurchasingFirst() {
        var pending = connected(at: 4)
        let news = pending.receive([
            .of(1, "coins", .purchased, version: 2, isDelivered: true, revision: 5)
        ])
        #expect(Self.reported(news) == [["coins purchasing"], ["coins purchased"]])
        let first = news.updates[0][0]
        #expect(first.fields.date == nil && !first.fields.isDelivered)
        #expect(first.transaction === news.updates[1][0].transaction)
        #expect(news.updates[1][0].fields.isDelivered)
        #expect(pending.all.count == 1)
    }

    @Test func whatIsNotMissedIsNotDerived() {
        var pending = connected(at: 4)
        let news = pending.receive([
            .of(1, "coins", .purchasing, version: 1, revision: 5),
            .of(1, "coins", .purchased, version: 2, revision: 6),
        ])
        #expect(Self.reported(news) == [["coins purchasing"], ["coins purchased"]])
    }

    @Test(arguments: [EventTypes.TransactionState.failed, .deferred])
    func everyOutcomeComesAfterPurchasing(_ outcome: EventTypes.TransactionState) {
        var pending = connected(at: 4)
        let news = pending.receive([.of(1, "coins", outcome, version: 2, revision: 5)])
        #expect(news.updates.flatMap { $0 }.map(\.fields.state.isOutcome) == [false, true])
        #expect(news.updates[0][0].fields.error == nil)
    }

    @Test func aRenewalWasNeverPurchasing() {
        var pending = connected(at: 4)
        let news = pending.receive([
            .of(2, "club", .purchased, version: 2, original: 1, reason: .renewal, revision: 5)
        ])
        #expect(Self.reported(news) == [["club purchased"]])
        #expect(news.updates[0][0].transaction.original?.transactionIdentifier == "1")
    }

    /// It may have been extended before it comes.
    @Test func whatAFamilySharesWasNeverPurchasing() {
        var pending = connected(at: 4)
        let news = pending.receive([
            .of(2, "club", .purchased, version: 2, reason: .familyShared, revision: 5)
        ])
        #expect(Self.reported(news) == [["club purchased"]])
    }

    @Test func aRestoredTransactionWasNeverPurchasing() {
        var pending = connected(at: 4)
        let news = pending.receive([.of(1, "pro", .restored, version: 2, revision: 5)])
        #expect(Self.reported(news) == [["pro restored"]])
    }

    @Test func atLaunchUnfinishedTransactionsAreReportedAsTheyAre() throws {
        var pending = connected(at: 9)
        let news = pending.receive([
            try event(.of(1, "coins", .purchased, version: 2, revision: 9)),
            try event(.of(2, "hint", .purchasing, version: 1, revision: 7)),
        ])
        #expect(Self.reported(news) == [["coins purchased", "hint purchasing"]])
    }

    @Test func changesDuringAnOutageAreReportedStepByStep() throws {
        var pending = connected(at: 4)
        let first = pending.receive([try event(.of(1, "coins", .purchased, revision: 5))])
        #expect(Self.reported(first) == [["coins purchasing"], ["coins purchased"]])
        _ = pending.connected(QueueStreamHead(revision: 8, database: "a"))
        let news = pending.receive([
            try event(.of(1, "coins", .purchased, revision: 5)),
            try event(.of(2, "hint", .purchased, revision: 8)),
        ])
        #expect(Self.reported(news) == [["hint purchasing"], ["hint purchased"]])
    }

    @Test func afterARelaunchNothingIsPurchasingAgain() throws {
        var pending = connected(at: 4)
        let purchase = QueueChanged.of(1, "coins", .purchased, version: 2, revision: 5)
        _ = pending.receive([try event(purchase)])
        _ = pending.forgetStream()
        _ = pending.connected(QueueStreamHead(revision: 5, database: "a"))
        #expect(Self.reported(pending.receive([try event(purchase)])) == [["coins purchased"]])
    }

    @Test func thePayingDeviceSeesPurchasingOnce() {
        var pending = connected(at: 4)
        let payment = SKPaymentTransaction.payment(of: "coins")
        let begun = pending.begin(payment)
        #expect(Self.reported(begun) == [["coins purchasing"]])
        _ = pending.send(payment)
        let early = pending.receive([.of(1, "coins", .purchased, version: 2, revision: 5)])
        #expect(Self.reported(early).isEmpty)
        let news = pending.bind(payment, to: TransactionID(number: 1))
        #expect(Self.reported(news) == [["coins purchased"]])
        let again = pending.receive([.of(1, "coins", .purchased, version: 2, revision: 5)])
        #expect(Self.reported(again).isEmpty)
    }

    @Test func changesHeldBackForAPaymentAreReportedStepByStep() {
        var pending = connected(at: 4)
        let payment = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(payment)
        _ = pending.send(payment)
        _ = pending.receive([.of(1, "coins", .purchased, version: 2, revision: 5)])
        let news = pending.bind(payment, to: TransactionID(number: 2))
        #expect(Self.reported(news) == [["coins purchasing"], ["coins purchased"]])
        #expect(news.updates[0][0].transaction !== payment)
    }

    @Test func anAnswerBeforeTheStreamIsReportedStepByStepAndOnce() throws {
        var pending = connected(at: 4)
        let purchase = QueueChanged.of(1, "coins", .purchased, version: 2, revision: 5)
        let answered = pending.receive([purchase], insteadOf: [])
        #expect(Self.reported(answered) == [["coins purchasing"], ["coins purchased"]])
        #expect(pending.receive([try event(purchase)]).updates.isEmpty)
    }

    @Test func afterAStoreHasGoneBackItsQueueIsReportedAsItIs() throws {
        var pending = connected(at: 4)
        _ = pending.receive([try event(.of(1, "coins", .purchased, revision: 6))])
        #expect(
            pending.connected(QueueStreamHead(revision: 5, database: "b")).hasStoreGoneBack
        )
        let news = pending.receive([try event(.of(2, "hint", .purchased, revision: 5))])
        #expect(Self.reported(news) == [["hint purchased"]])
    }

    @Test func anOlderStoreThatTellsNoRevisionReportsEachState() {
        var pending = connected(at: nil)
        let news = pending.receive([.of(1, "coins", .purchased, version: 2, revision: 5)])
        #expect(Self.reported(news) == [["coins purchased"]])
    }

    @Test func aPaymentThatMovedIsPurchasingUntilTheAppHasDecided() {
        var pending = connected(at: 4)
        var change = QueueChanged.of(1, "coins", .failed, version: 2, revision: 5)
        change.transaction.failureReason = .storefrontChanged
        let news = pending.receive([change])
        #expect(Self.reported(news) == [["coins purchasing"]])
        #expect(news.moved.count == 1)
        let stopped = pending.stop(news.moved[0])
        #expect(Self.reported(stopped) == [["coins failed"]])
    }
}

extension SKPaymentTransactionState {
    fileprivate var isOutcome: Bool { self != .purchasing }
}

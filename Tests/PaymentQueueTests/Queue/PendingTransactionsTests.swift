import EventTypes
import StoreAPI
import Testing

@testable import PaymentQueue

@Suite struct PendingTransactionsTests {
    private var pending = PendingTransactions()

    @Test func aPaymentAndWhatTheStreamSaysOfItAreOneTransaction() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        #expect(pending.bind(transaction, to: id(1)).updates.isEmpty)
        let news = pending.receive([.of(1, "coins", .purchasing), .of(1, "coins", .purchased)])
        #expect(news.updates.flatMap { $0 }.map(\.fields.state) == [.purchased])
        #expect(news.updates.first?.first?.transaction === transaction)
        #expect(pending.all.count == 1)
    }

    @Test func observersHearThatTheBuyerIsAwaitedAndThatNoLonger() {
        var pending = pending
        var waiting = QueueChanged.of(1, "coins", .purchasing, version: 2)
        waiting.transaction.awaitsBuyer = true
        let changes: [QueueChanged] = [
            .of(1, "coins", .purchasing), waiting, waiting,
            .of(1, "coins", .purchasing, version: 3), .of(1, "coins", .purchased, version: 4),
        ]
        var told: [[Bool]] = []
        var awaited: [Bool] = []
        for change in changes {
            let news = pending.receive([change])
            told.append(news.updates.flatMap { $0 }.map(\.fields.awaitsBuyer))
            awaited.append(pending.awaitingBuyer == [id(1)])
        }
        #expect(told == [[false], [true], [], [false], [false]])
        #expect(awaited == [false, true, true, false, false])
        // At a launch the stream begins with it.
        var launched = PendingTransactions()
        #expect(launched.receive([waiting]).updates.first?.first?.fields.awaitsBuyer == true)
        #expect(launched.awaitingBuyer == [id(1)])
    }

    @Test func whatTheStoreLetsTheAppFinishIsDeliveredBeforeTheStreamSaysSo() throws {
        var pending = pending
        let news = pending.receive([.of(1, "coins", .purchased), .of(2, "hint", .failed)])
        let transactions = news.updates.flatMap { $0 }.map(\.transaction)
        let purchase = try #require(transactions.first { $0.number == id(1) })
        let finished = pending.finish(purchase)
        #expect(finished.silent.map(\.fields.isDelivered) == [true])
        #expect(finished.removed.map(\.number) == [id(1)])
        let failure = try #require(transactions.first { $0.number == id(2) })
        #expect(pending.finish(failure).silent.isEmpty, "Nothing was delivered.")
    }

    @Test func aStreamThatIsFasterThanTheAnswerMakesNoSecondTransaction() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        _ = pending.send(transaction)
        #expect(pending.receive([.of(1, "coins", .purchased)]).updates.isEmpty)
        let news = pending.bind(transaction, to: id(1))
        #expect(news.updates.count == 1)
        #expect(news.updates.first?.first?.transaction === transaction)
        #expect(pending.all.count == 1)
    }

    @Test func whileAPaymentIsUnansweredOtherPurchasesAreReported() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        _ = pending.send(transaction)
        let news = pending.receive([.of(1, "hint", .purchased), .of(2, "coins", .purchased)])
        #expect(news.updates.count == 1)
        #expect(
            news.updates.first?.first?.transaction.payment.productIdentifier == "hint",
            "What may be the payment's own waits for its answer; what cannot be does not."
        )
    }

    @Test func aRenewalIsNotTakenForAnUnansweredPayment() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "club")
        _ = pending.begin(transaction)
        _ = pending.send(transaction)
        let news = pending.receive([.of(2, "club", .purchased, original: 1, reason: .renewal)])
        #expect(news.updates.flatMap { $0 }.map(\.transaction.number) == [id(2)])
        #expect(pending.all.count == 2)
    }

    @Test func aRefusalLetsWhatItHeldBackThrough() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        _ = pending.send(transaction)
        _ = pending.receive([.of(7, "coins", .purchased)])
        let news = pending.refuse(transaction, with: SKError(.paymentInvalid))
        let updates = news.updates.flatMap { $0 }
        #expect(updates.map(\.fields.state) == [.purchased, .failed])
        #expect(pending.all.count == 2)
    }

    @Test func whileTheBuyerHasNotDecidedNothingIsHeldBack() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        #expect(
            pending.receive([.of(1, "coins", .purchased)]).updates.count == 1,
            "What is not sent is nothing that the stream speaks of."
        )
        _ = pending.send(transaction)
        #expect(pending.receive([.of(2, "coins", .purchased)]).updates.isEmpty)
        #expect(
            pending.withhold(transaction).updates.count == 1,
            "The store has refused it, and the app is asked whether it goes on."
        )
        _ = pending.send(transaction)
        #expect(pending.receive([.of(3, "coins", .purchased)]).updates.isEmpty)
        let news = pending.bind(transaction, to: id(3))
        #expect(news.updates.first?.first?.transaction === transaction)
        #expect(pending.all.count == 3)
    }

    @Test func onlyTransactionsTheStoreOnceSentCanLeaveByItsAnswer() throws {
        var pending = pending
        let payment = SKPaymentTransaction.payment(of: "map")
        _ = pending.begin(payment)
        _ = pending.bind(payment, to: id(9))
        _ = pending.receive([.of(1, "coins", .purchased), .of(2, "hint", .purchased)])
        let asked = pending.reported
        _ = pending.receive([.of(3, "pro", .purchased)])
        let finished = try #require(pending.transaction(id(1)))
        let news = pending.receive([.of(2, "hint", .purchased)], insteadOf: asked)
        #expect(news.removed.map(ObjectIdentifier.init) == [ObjectIdentifier(finished)])
        #expect(
            pending.all.map(\.payment.productIdentifier) == ["map", "hint", "pro"],
            "What came while the store was asked, and what it was only just sent, stays."
        )
    }

    @Test func aStoreThatGoesBackIsNoticedByTheNumbersOfItsStream() throws {
        var pending = pending
        let first = try [1, 2, 4].map { try event(.of($0, "hint", .purchased), id: "\($0)") }
        #expect(!pending.receive(first).hasStoreGoneBack)
        #expect(pending.receive([try event(.of(2, "hint", .purchased), id: "3")]).hasStoreGoneBack)
        #expect(!pending.receive([try event(.of(5, "hint", .purchased), id: "4")]).hasStoreGoneBack)
        #expect(pending.lastEventID == "4")
    }

    @Test func eachStateOfATransactionIsACallOfItsOwn() {
        var pending = pending
        let news = pending.receive([
            .of(1, "coins", .purchasing), .of(2, "hint", .purchasing), .of(1, "coins", .deferred),
            .of(1, "coins", .purchased),
        ])
        #expect(
            news.updates.map { $0.map(\.fields.state) } == [
                [.purchasing, .purchasing], [.deferred], [.purchased],
            ]
        )
    }

    @Test func anOlderVersionAndARepetitionAreNotReported() {
        var pending = pending
        _ = pending.receive([.of(1, "coins", .purchased, version: 3)])
        let news = pending.receive([
            .of(1, "coins", .purchasing, version: 2), .of(1, "coins", .purchased, version: 3),
        ])
        #expect(news.updates.isEmpty)
        #expect(pending.all.map(\.transactionState) == [.purchased])
    }

    @Test func aConfirmedDeliveryIsShownButNotReported() {
        var pending = pending
        _ = pending.receive([.of(1, "coins", .purchased)])
        let news = pending.receive([.of(1, "coins", .purchased, isDelivered: true)])
        #expect(news.updates.isEmpty)
        #expect(news.silent.map(\.fields.isDelivered) == [true])
    }

    @Test func aSilentUpdateIsNeverOlderThanWhatWasReported() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        _ = pending.bind(transaction, to: id(1))
        let news = pending.receive([
            .of(1, "coins", .purchasing), .of(1, "coins", .purchased),
            .of(1, "coins", .purchased, isDelivered: true),
        ])
        let shown = news.updates.flatMap { $0 } + news.silent
        #expect(shown.map(\.fields.state) == [.purchased, .purchased])
        #expect(shown.last?.fields.isDelivered == true)
    }

    @Test func whatIsFinishedElsewhereIsRemovedOnce() {
        var pending = pending
        _ = pending.receive([.of(1, "coins", .purchased)])
        let finished = QueueChanged.of(1, "coins", .purchased, finishedAt: 9)
        #expect(pending.receive([finished]).removed.count == 1)
        #expect(pending.receive([finished]).removed.isEmpty)
        #expect(pending.all.isEmpty)
    }

    @Test func anOlderStreamEventDoesNotBringBackWhatWasFinishedHere() throws {
        var pending = pending
        _ = pending.receive([.of(1, "coins", .purchased)])
        _ = pending.finish(try #require(pending.all.first))
        let late = pending.receive([
            .of(1, "coins", .purchased, isDelivered: true),
            .of(1, "coins", .purchased, isDelivered: true, finishedAt: 9),
        ])
        #expect(late.updates.isEmpty && late.removed.isEmpty)
        #expect(pending.all.isEmpty)
        _ = pending.forgetStream()
        #expect(
            pending.receive([.of(1, "coins", .purchased)]).updates.count == 1,
            "A store that was restored from a backup tells of it again."
        )
    }

    @Test func whatWasSaidBeforeTheAnswerDoesNotTakeTheNumberAway() {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        let shown = transaction.fields
        _ = pending.begin(transaction)
        _ = pending.bind(transaction, to: id(1))
        transaction.show(shown)
        #expect(transaction.number == id(1))
    }

    @Test func finishedByTwoItIsRemovedOnce() throws {
        var pending = pending
        _ = pending.receive([.of(1, "coins", .purchased)])
        let transaction = try #require(pending.all.first)
        #expect(pending.finish(transaction).removed.count == 1)
        #expect(pending.finish(transaction).removed.isEmpty)
    }

    @Test func aRefundTakesTheProductBackWhetherItIsFinishedOrNot() {
        var pending = pending
        _ = pending.receive([.of(1, "pro", .purchased)])
        let news = pending.receive([.of(1, "pro", .purchased, version: 3, revokedAt: 5)])
        #expect(news.revoked == ["pro"])
        #expect(news.updates.count == 1 && news.refunded.isEmpty)
        let other = pending.receive([
            .of(2, "map", .purchased, version: 3, finishedAt: 4, revokedAt: 5)
        ])
        #expect(other.revoked == ["map"])
        #expect(other.updates.isEmpty && other.refunded.map(\.number?.number) == [2])
    }

    @Test(arguments: [true, false])
    func aRestoreEndsAfterItsLastTransaction(isAnsweredFirst: Bool) {
        var pending = pending
        let restore = pending.restores.begin()
        let changes: [QueueChanged] = [.of(8, "pro", .restored), .of(9, "map", .restored)]
        var ended: [Int] = []
        let ids = [id(8), id(9)]
        if isAnsweredFirst { ended.append(pending.await(ids, of: restore).restoresEnded) }
        for change in changes { ended.append(pending.receive([change]).restoresEnded) }
        if !isAnsweredFirst { ended.append(pending.await(ids, of: restore).restoresEnded) }
        #expect(ended == [0, 0, 1])
    }

    @Test func aRestoreOfNothingEndsAtOnce() {
        var pending = pending
        let restore = pending.restores.begin()
        #expect(pending.await([], of: restore).restoresEnded == 1)
    }

    @Test func twoRestoresEndOneByOne() {
        var pending = pending
        let (first, second) = (pending.restores.begin(), pending.restores.begin())
        #expect(pending.await([id(8)], of: first).restoresEnded == 0)
        #expect(pending.await([id(9)], of: second).restoresEnded == 0)
        #expect(pending.receive([.of(9, "pro", .restored)]).restoresEnded == 1)
        #expect(pending.receive([.of(8, "pro", .restored)]).restoresEnded == 1)
    }

    @Test func aRestoreFinishedElsewhereIsFoundInTheHistory() {
        var pending = pending
        let restore = pending.restores.begin()
        #expect(pending.await([id(8), id(9)], of: restore).restoresEnded == 0)
        let history: [QueueChanged] = [
            .of(7, "pro", .restored, finishedAt: 5), .of(8, "pro", .restored, finishedAt: 9),
            .of(9, "map", .restored),
        ]
        #expect(pending.lookThrough(history).restoresEnded == 0)
        #expect(
            pending.receive([.of(9, "map", .restored)]).restoresEnded == 1,
            "Observers hear of unfinished transactions first."
        )
        #expect(!pending.restores.isAwaited(restore))
    }

    @Test func aStoreThatIsBehindWhatItHasSentHasGoneBack() throws {
        var pending = pending
        #expect(!pending.connected(head(0, "a")).hasStoreGoneBack, "It is the first stream.")
        let change = pending.receive([try event(.of(1, "hint", .purchased), id: "3")])
        _ = pending.receive([try event(.of(2, "coins", .purchased, isDelivered: true), id: "4")])
        _ = pending.finish(try #require(change.updates.first?.first?.transaction))
        let restore = pending.restores.begin()
        _ = pending.await([id(8)], of: restore)
        #expect(!pending.connected(head(4, "a")).hasStoreGoneBack)
        #expect(!pending.connected(head(nil, nil)).hasStoreGoneBack, "An older store says nothing.")
        #expect(pending.receive([.of(1, "hint", .purchased)]).updates.isEmpty)
        let news = pending.connected(head(1, "a"))
        #expect(news.hasStoreGoneBack && news.restoresLost == 1)
        #expect(pending.lastEventID == nil, "Where to resume means nothing to it.")
        let older = pending.receive([.of(2, "coins", .purchasing, version: 1)])
        #expect(older.updates.flatMap { $0 }.map(\.fields.state) == [.purchasing])
        #expect(
            pending.receive([.of(1, "hint", .purchased)]).updates.count == 1,
            "What was finished since the backup is unfinished again."
        )
    }

    @Test func aStoreOfAnotherDatabaseMayHaveGoneBackHoweverFarItIs() throws {
        var pending = pending
        _ = pending.connected(head(4, "a"))
        _ = pending.receive([try event(.of(1, "hint", .purchased), id: "4")])
        #expect(pending.connected(head(9, "b")).hasStoreGoneBack)
        #expect(pending.lastEventID == "4", "It has been resumed from there.")
        #expect(!pending.connected(head(9, "b")).hasStoreGoneBack)
        _ = pending.forgetStream()
        #expect(!pending.connected(head(1, "c")).hasStoreGoneBack, "It begins with everything.")
    }

    @Test func withoutAStreamOnlyWhatTheStoreHasNotTakenStays() throws {
        var pending = pending
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        _ = pending.receive([try event(.of(1, "hint", .purchased), id: "4")])
        #expect(pending.lastEventID == "4")
        #expect(pending.forgetStream() == 0)
        #expect(pending.all.count == 1)
        #expect(pending.all.first === transaction)
        #expect(pending.lastEventID == nil, "The next stream begins with everything unfinished.")
        #expect(pending.receive([.of(1, "hint", .purchased)]).updates.count == 1)
    }

    @Test func whatCannotBeReadIsPassedOverAndTheRestIsNot() throws {
        var pending = pending
        let garbage = ServerSentEventParser.Event(
            id: "5",
            name: "transaction",
            data: Array("{\"transaction\":17".utf8)
        )
        let news = pending.receive([garbage, try event(.of(1, "hint", .purchased), id: "6")])
        #expect(news.updates.count == 1)
        #expect(pending.lastEventID == "6")
    }

    @Test func aSubscriptionOfTheStreamIsNoTransaction() throws {
        var pending = pending
        let event = ServerSentEventParser.Event(id: "5", name: "subscription", data: [1])
        let news = pending.receive([event])
        #expect(news.subscriptions == [[1]] && news.updates.isEmpty && pending.all.isEmpty)
        #expect(pending.lastEventID == "5")
    }

    @Test func aStateOfANewerStoreSurvivesAndIsNotFinishable() throws {
        var pending = pending
        _ = pending.receive([.of(1, "hint", .unknown("99"))])
        let transaction = try #require(pending.all.first)
        #expect(transaction.transactionState == .unknown("99"))
        #expect(transaction.transactionState.rawValue == -1)
        #expect(!transaction.transactionState.isFinishable)
    }

    private func head(_ revision: Int64?, _ database: String?) -> QueueStreamHead {
        QueueStreamHead(revision: revision, database: database)
    }

    private func id(_ number: Int64) -> TransactionID { TransactionID(number: number) }

    private func event(_ change: QueueChanged, id: String) throws -> ServerSentEventParser.Event {
        .init(id: id, name: "transaction", data: try EventCoding.encode(change))
    }
}

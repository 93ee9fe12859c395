import EventTypes
import StoreAPI
import Testing

@testable import PaymentQueue

/// Payments that the store has not charged because the account buys elsewhere (spec rule 9).
@Suite struct MovedPaymentsTests {
    private func id(_ number: Int64) -> TransactionID { TransactionID(number: number) }

    private func moved(_ number: Int64, finishedAt: Int64? = nil) -> QueueChanged {
        var change = QueueChanged.of(number, "coins", .failed, finishedAt: finishedAt)
        change.transaction.failureReason = .storefrontChanged
        return change
    }

    private func states(_ news: PendingTransactions.News) -> [SKPaymentTransactionState] {
        news.updates.flatMap { $0 }.map(\.fields.state)
    }

    /// A payment that the store has taken and deferred.
    private func deferred() -> (PendingTransactions, SKPaymentTransaction) {
        var pending = PendingTransactions()
        let transaction = SKPaymentTransaction.payment(of: "coins")
        _ = pending.begin(transaction)
        _ = pending.bind(transaction, to: id(1))
        _ = pending.receive([.of(1, "coins", .deferred)])
        return (pending, transaction)
    }

    @Test func theAppIsAskedOnceBeforeAFailureIsReported() throws {
        let (begun, transaction) = deferred()
        var pending = begun
        let news = pending.receive([moved(1)])
        #expect(states(news).isEmpty)
        let asked = try #require(news.moved.first)
        #expect(asked.transaction === transaction && asked.id == id(1))
        #expect(asked.storefront.rawValue == "USA")
        // The stream may say it again.
        #expect(pending.receive([moved(1)]).moved.isEmpty)
    }

    @Test func whatStopsFailsAsTheStoreSaysAndIsNotAskedAgain() throws {
        let (begun, transaction) = deferred()
        var pending = begun
        let asked = try #require(pending.receive([moved(1)]).moved.first)
        let news = pending.stop(asked)
        let update = try #require(news.updates.first?.first)
        #expect(update.transaction === transaction && update.fields.state == .failed)
        #expect(update.fields.error?.code == .storeProductNotAvailable)
        let again = pending.receive([moved(1)])
        #expect(again.moved.isEmpty && states(again).isEmpty)
    }

    @Test func whatGoesOnIsTheSameTransactionUnderAnotherNumber() throws {
        let (begun, transaction) = deferred()
        var pending = begun
        let asked = try #require(pending.receive([moved(1)]).moved.first)
        _ = pending.send(transaction)
        // The stream may be faster than the answer.
        _ = pending.receive([.of(2, "coins", .purchased)])
        let news = pending.goOn(asked, as: id(2))
        #expect(states(news) == [.purchased])
        #expect(news.updates.first?.first?.transaction === transaction)
        #expect(transaction.number == id(2) && pending.all.count == 1)
        // What the store still says of the one before concerns nobody.
        let old = pending.receive([moved(1), moved(1, finishedAt: 5)])
        #expect(old.moved.isEmpty && states(old).isEmpty && old.removed.isEmpty)
    }

    @Test func atTheNextLaunchItIsAPaymentThatHasNotFailed() throws {
        var pending = PendingTransactions()
        let news = pending.receive([moved(1)])
        #expect(states(news) == [.purchasing])
        let asked = try #require(news.moved.first)
        #expect(states(pending.stop(asked)) == [.failed])
    }

    @Test func whatAnotherDeviceHasGoneOnWithLeaves() {
        let (begun, transaction) = deferred()
        var pending = begun
        _ = pending.receive([moved(1)])
        let news = pending.receive([moved(1, finishedAt: 5)])
        #expect(news.removed.first === transaction && pending.all.isEmpty)
    }

    @Test func anyOtherFailureIsReportedAtOnce() {
        var pending = deferred().0
        let news = pending.receive([.of(1, "coins", .failed)])
        #expect(states(news) == [.failed] && news.moved.isEmpty)
    }
}

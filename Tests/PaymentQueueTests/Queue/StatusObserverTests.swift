import Dispatch
import EventTypes
import Testing

@testable import PaymentQueue

/// The changes that the updates of subscriptions' statuses wait for.
@Suite(.timeLimit(.minutes(10))) struct StatusObserverTests {
    private typealias Expectation = StatusObserver.Expectation

    private let queue = SKPaymentQueue(
        configuration: nil,
        callbacks: .init(label: "status-observer")
    )

    private func purchase(_ number: Int64, _ type: ProductType) -> SKPaymentTransaction {
        var change = QueueChanged.of(number, "club", .purchased)
        change.transaction.productType = type
        return SKPaymentTransaction(change)
    }

    @Test func theFirstLookWaitsForNothing() async {
        #expect(await StatusObserver().next() == Expectation())
    }

    @Test func severalChangesAreOneLook() async {
        let observer = StatusObserver()
        _ = await observer.next()
        let club = [7, 9, 8].map { purchase($0, .autoRenewableSubscription) }
        observer.paymentQueue(queue, updatedTransactions: club)
        observer.receive(version: 3, of: 5)
        observer.receive(version: 2, of: 5)
        observer.receive(refunded: club)
        let expected = Expectation(transaction: 9, versions: [5: 3], hasRefund: true)
        #expect(await observer.next() == expected)
    }

    @Test func otherPurchasesAreNoReasonToLook() async {
        let observer = StatusObserver()
        _ = await observer.next()
        observer.paymentQueue(queue, updatedTransactions: [purchase(7, .consumable)])
        observer.receive(refunded: [purchase(7, .nonConsumable)])
        observer.queueDidClose()
        #expect(await observer.next() == nil)
    }

    @Test func anOlderAnswerIsNotTakenForTheChange() {
        let paid = Expectation(transaction: 9)
        #expect(!paid.isMet(by: [5: (1, 8)], hasNews: true))
        #expect(paid.isMet(by: [5: (1, 8), 6: (1, 9)], hasNews: false))
        let changed = Expectation(versions: [5: 3])
        #expect(!changed.isMet(by: [5: (2, 8)], hasNews: true))
        #expect(!changed.isMet(by: [:], hasNews: true))
        #expect(changed.isMet(by: [5: (4, 8)], hasNews: false))
        let refunded = Expectation(hasRefund: true)
        #expect(!refunded.isMet(by: [5: (2, 8)], hasNews: false))
        #expect(refunded.isMet(by: [5: (2, 8)], hasNews: true))
        #expect(Expectation().isMet(by: [:], hasNews: false))
    }

    /// The account's own subscription and one that its family shares, both in one group.
    @Test func aSharedSubscriptionDoesNotStandForTheOwnOne() {
        let changed = Expectation(versions: [5: 3])
        #expect(!changed.isMet(by: [5: (2, 8), 6: (9, 4)], hasNews: true))
        #expect(changed.isMet(by: [5: (3, 8), 6: (2, 4)], hasNews: false))
        let paid = Expectation(transaction: 8)
        #expect(paid.isMet(by: [5: (2, 8), 6: (9, 4)], hasNews: false))
    }
}

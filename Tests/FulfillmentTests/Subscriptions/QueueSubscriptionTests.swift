import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

@testable import Fulfillment

/// Subscriptions that change without a payment, as the queues of their accounts show them.
@Suite(.timeLimit(.minutes(10)))
struct QueueSubscriptionTests {
    @Test func aCancellationIsAChangeOfItsQueue() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1))
            try await store.arrive(events: [.change(.club(2))])
            try await store.arrive(.sample(2))
            let outbox = try await store.outbox()
            #expect(
                outbox.map(\.type) == [.queueChanged, .queueSubscriptionChanged, .queueChanged]
            )
            #expect(outbox.map(\.key) == ["alice", "alice", "alice"])
            #expect(outbox[1].topic == Topics.fulfillmentQueues.name)
            #expect(outbox[1].subject == Subscription.club(2).id.rawValue)
            let shown = QueueSubscriptionChanged(revision: 2, subscription: .club(2))
            #expect(outbox[1].data == (try EventCoding.encode(shown)))
            let page = try await store.reads.changes(in: .sample(), after: 1)
            #expect(page.messages.map(\.kind) == [.subscription, .transaction])
            #expect(page.messages.map(\.revision) == [2, 3] && page.isComplete)
            #expect(page.messages[0].data == outbox[1].data)
        }
    }

    /// The transaction of the period is in the queue, so the change writes nothing more.
    @Test func aPaidPeriodIsShownByItsTransactionOnly() async throws {
        try await withFulfillment { store in
            try await store.arrive(events: [.change(.club(2), paid: TransactionID(number: 7))])
            #expect(try await store.outbox().isEmpty)
            #expect(try await store.reads.changes(in: .sample(), after: 0).revision == 0)
        }
    }

    @Test func olderVersionsAndRepetitionsChangeNothing() async throws {
        try await withFulfillment { store in
            try await store.arrive(
                events: [2, 4, 3, 4].map { try ReceivedEvent.change(.club($0)) }
            )
            try await store.arrive(events: [.change(.club(3))])
            try await store.arrive(events: [.change(.club(4))])
            #expect(
                try await store.shownSubscriptions()
                    == [QueueSubscriptionChanged(revision: 1, subscription: .club(4))]
            )
        }
    }

    @Test func inABatchWithOthersRevisionsHaveNoGap() async throws {
        try await withFulfillment { store in
            try await store.arrive(
                events: [
                    .change(.club(2)), .arrival(Transaction.sample(1)),
                    .change(.club(2, account: "bob")), .arrival(Account.sample(1)),
                    .arrival(Transaction.sample(2)), .change(.club(5, group: "other")),
                ]
            )
            let page = try await store.reads.changes(in: .sample(), after: 0)
            #expect(page.messages.map(\.revision) == [1, 2, 3, 4, 5])
            #expect(
                page.messages.map(\.kind)
                    == [.transaction, .transaction, .account, .subscription, .subscription]
            )
            let other = try await store.reads.changes(in: .sample("bob"), after: 0)
            #expect(other.messages.map(\.kind) == [.subscription] && other.revision == 1)
            // A page that is full is not the last one.
            let first = try await store.reads.changes(in: .sample(), after: 3, limit: 1)
            #expect(first.messages.map(\.revision) == [4] && !first.isComplete)
        }
    }

    @Test func whatANewerStoreSaysReachesClientsUnread() async throws {
        let data = try EventCoding.encode(
            QueueSubscriptionChanged(revision: 1, subscription: .club(2))
        )
        let text = String(decoding: data, as: UTF8.self)
            .replacing("\"accountID\"", with: "\"mood\":\"good\",\"accountID\"")
        let snapshot = try SubscriptionSnapshot(of: .club(2), in: Array(text.utf8))
        let sent = snapshot.queueSubscriptionChanged(revision: 7)
        #expect(String(decoding: sent, as: UTF8.self).contains("\"mood\":\"good\""))
        #expect(
            try EventCoding.decode(QueueSubscriptionChanged.self, from: sent)
                == QueueSubscriptionChanged(revision: 7, subscription: .club(2))
        )
        let encoded = try SubscriptionSnapshot(of: .club(2), in: [])
        #expect(encoded.queueSubscriptionChanged(revision: 1) == data)
    }

    @Test func theServiceMayReplaceWhatWasShownNotWhoseItIs() async throws {
        try await withFulfillment { store in
            try await store.arrive(events: [.change(.club(2))])
            #expect(try await !store.isAllowed("DELETE FROM queue_subscriptions"))
            #expect(try await !store.isAllowed("TRUNCATE queue_subscriptions"))
            #expect(
                try await !store.isAllowed("UPDATE queue_subscriptions SET account_id = 'bob'")
            )
        }
    }

    @Test func aStreamTellsOfItAndResumesWithIt() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            var stream = try await server.connect()
            #expect(try await stream.next()?.name == "transaction")
            try await server.store.arrive(events: [.change(.club(2))])
            try await server.handOn()
            let told = try #require(try await stream.next())
            #expect(told.name == "subscription" && told.id == "2")
            #expect(
                try EventCoding.decode(QueueSubscriptionChanged.self, from: Array(told.data.utf8))
                    == QueueSubscriptionChanged(revision: 2, subscription: .club(2))
            )
            try await server.store.arrive(.sample(2))
            var behind = try await server.connect(after: "1")
            let events = [try await behind.next(), try await behind.next()].compactMap { $0 }
            #expect(events.map(\.name) == ["subscription", "transaction"])
            #expect(events.map(\.id) == ["2", "3"])
        }
    }

    /// The history leaves subscriptions out, and goes on behind them.
    @Test func theHistoryGoesOnBehindAPageOfSubscriptions() async throws {
        try await StreamServer.run { server in
            let ids = (1...Int64(HistoryRoutes.pageSize)).map { 1_000 + $0 }
            try await server.store.arrive(
                events: ids.map { try ReceivedEvent.change(.club(2, group: "club\($0)", id: $0)) }
            )
            try await server.store.arrive(.sample(1))
            func page(after revision: Int64) async throws -> HistoryResponse {
                let answer = try await server.send(.GET, "\(Routes.history)?after=\(revision)")
                return try JSONDecoder().decode(HistoryResponse.self, from: answer.body)
            }
            let first = try await page(after: 0)
            #expect(first.transactions.isEmpty)
            let next = try #require(first.next)
            #expect(next == Int64(HistoryRoutes.pageSize))
            let second = try await page(after: next)
            #expect(second.transactions.map(\.transaction) == [.sample(1)])
            #expect(second.next == nil)
        }
    }

    @Test func whatTheTopicLostIsReadFromTheDatabase() async throws {
        try await StreamServer.run { server in
            var stream = try await server.connect()
            try await server.store.arrive(events: [.change(.club(2))])
            try await server.store.arrive(.sample(1))
            try await server.handOn(skipping: 1)
            #expect(try await stream.next()?.name == "subscription")
            #expect(try await stream.next()?.change.revision == 2)
        }
    }
}

extension Subscription {
    /// A subscription of the sample queue that was cancelled, at a version.
    fileprivate static func club(
        _ version: Int,
        account: String = "alice",
        group: String = "club",
        id: Int64? = nil
    ) -> Subscription {
        let price = Money(minorUnits: 299, currency: Currency(unchecked: "USD"))
        let number = id ?? (account == "alice" ? (group == "club" ? 1 : 3) : 2)
        var subscription = Subscription(
            accountID: AccountID(unchecked: account),
            bundleID: appID,
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: number),
                reason: .purchase,
                product: SubscriptionProduct(
                    id: ProductID(unchecked: group),
                    terms: SubscriptionTerms(
                        groupID: SubscriptionGroupID(unchecked: group),
                        level: 1,
                        period: SubscriptionPeriod(1, .month)
                    ),
                    price: price
                ),
                price: price,
                anchor: startOfTime,
                number: 1,
                start: startOfTime,
                end: startOfTime.advanced(by: .seconds(30 * 86_400))
            )
        )
        subscription.version = version
        subscription.autoRenewOffReason = .customer
        return subscription
    }
}

extension ReceivedEvent {
    /// A change of a subscription, with the transaction that paid a period, if one did.
    fileprivate static func change(
        _ subscription: Subscription,
        paid: TransactionID? = nil
    ) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: startOfTime),
            type: .subscriptionChanged,
            topic: Topics.paymentsTransactions.name,
            key: subscription.accountID.rawValue,
            subject: subscription.id.rawValue,
            time: startOfTime,
            data: try EventCoding.encode(
                SubscriptionChanged(
                    subscription: subscription,
                    cause: paid == nil ? .autoRenewTurnedOff : .renewed,
                    changedAt: startOfTime,
                    transactionID: paid,
                    environment: StoreEnvironment.sandbox.rawValue
                )
            )
        )
    }
}

extension FulfillmentDatabase {
    /// Returns the published changes of subscriptions in order.
    fileprivate func shownSubscriptions() async throws -> [QueueSubscriptionChanged] {
        try await outbox().filter { $0.type == .queueSubscriptionChanged }
            .map { try $0.decode(QueueSubscriptionChanged.self) }
    }
}

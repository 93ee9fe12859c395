import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import Testing
import TestSupport

@testable import Payments

/// Restores (spec rules 61 to 72, X4, trap 48).
@Suite(.timeLimit(.minutes(10))) struct RestoreHandlerTests {
    func restored(
        _ store: Store,
        key: String,
        username: String? = nil,
        products: [String]? = nil,
        of account: AuthenticatedAccount = alice
    ) async throws -> [Transaction] {
        let reply = try await store.restores.restore(
            RestoreRequest(
                applicationUsername: username,
                productIDs: products?.map { ProductID(unchecked: $0) }
            ),
            account,
            key: key
        )
        guard case .restored(let transactions, _) = reply else {
            Issue.record("\(reply)")
            return []
        }
        return transactions
    }

    @Test func aFinishedPurchaseIsRestoredAsANewTransactionOfItsOriginal() async throws {
        try await withStore { store in
            let bought = try await store.buy(request("film", username: "u"), key: "a")
            try await store.finish(bought.id)
            store.clock.advance(by: .seconds(3600))
            let restored = try await restored(store, key: "r")
            #expect(restored.count == 1)
            let transaction = restored[0]
            #expect(transaction.id > bought.id)
            #expect(transaction.originalID == bought.id)
            #expect(transaction.state == .restored)
            #expect(transaction.price == usd(0))
            #expect(transaction.purchasedAt == store.clock.now())
            #expect(transaction.originalPurchasedAt == bought.purchasedAt)
            #expect(transaction.applicationUsername == "u")
            #expect(
                try await store.eventTypes(of: transaction.id) == ["transaction.restored.v1"]
            )
            #expect(try await store.load(transaction.id) == transaction)
        }
    }

    @Test func onlyWhatIsFinishedUnrevokedRestorableAndMineIsRestored() async throws {
        try await withStore { store in
            try await store.sell(
                product("pass", .nonConsumable),
                product("month", .nonRenewingSubscription, isRestorable: true),
                product("song", .nonConsumable, isRestorable: false)
            )
            for id in ["coins", "month", "song", "pass"] {
                try await store.finish(try await store.buy(request(id), key: id).id)
            }
            try await store.buy(request("film"), key: "unfinished")
            let other = try await store.buy(request("film"), key: "b", of: bob)
            try await store.finish(other.id)
            #expect(try await restored(store, key: "r").map(\.productID.rawValue) == ["pass"])

            _ = try await store.refunds.beginRefund(of: other.id)
            try await store.recover()
            #expect(try await restored(store, key: "r", of: bob).isEmpty)
        }
    }

    /// The buyer chooses the products to restore (spec rule 74).
    @Test func onlyTheProductsThatAreNamedAreRestored() async throws {
        try await withStore { store in
            try await store.sell(
                product("song", .nonConsumable),
                product("book", .nonConsumable)
            )
            for id in ["film", "song", "book"] {
                try await store.finish(try await store.buy(request(id), key: id).id)
            }
            func names(_ key: String, _ products: [String]?) async throws -> [String] {
                try await restored(store, key: key, products: products).map(\.productID.rawValue)
            }
            #expect(try await names("r1", ["song", "nothing"]) == ["song"])
            #expect(try await names("r2", []).isEmpty)
            #expect(try await names("r3", nil) == ["film", "song", "book"])
            // Another choice of products is another request.
            let reply = try await store.restores.restore(RestoreRequest(), alice, key: "r1")
            guard case .keyReused = reply else { return #expect(Bool(false)) }
            #expect(try await names("r1", ["nothing", "song"]) == ["song"])
        }
    }

    @Test func severalPurchasesOfOneOriginalAreRestoredOnce() async throws {
        try await withStore { store in
            for key in ["a", "b", "c"] {
                try await store.finish(try await store.buy(request("film"), key: key).id)
            }
            #expect(try await restored(store, key: "r").count == 1)
        }
    }

    @Test func restoringAgainMakesNewTransactionsAndTheSameKeyDoesNot() async throws {
        try await withStore { store in
            try await store.finish(try await store.buy(request("film"), key: "a").id)
            let first = try await restored(store, key: "r1")
            let second = try await restored(store, key: "r2")
            let third = try await restored(store, key: "r1")
            #expect(first != second)
            #expect(first == third)
            #expect(first.map(\.originalID) == second.map(\.originalID))
            #expect(try await store.count("transactions") == 3)
        }
    }

    @Test func concurrentRestoresUnderOneKeyAreOneRestore() async throws {
        try await withStore { store in
            try await store.finish(try await store.buy(request("film"), key: "a").id)
            let ids = try await withThrowingTaskGroup(of: [TransactionID].self) { group in
                for _ in 0..<10 {
                    group.addTask { try await restored(store, key: "r").map(\.id) }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            #expect(try await store.count("transactions") == 2)
        }
    }

    @Test func aKeyThatWasUsedForSomethingElseIsRefused() async throws {
        try await withStore { store in
            try await store.buy(request("film"), key: "a")
            let reply = try await store.restores.restore(RestoreRequest(), alice, key: "a")
            guard case .keyReused = reply else { return #expect(Bool(false)) }
        }
    }

    @Test(arguments: [("u", 1), ("v", 0), (nil, 2)] as [(String?, Int)])
    func aUsernameFiltersAndNoneRestoresAll(username: String?, count: Int) async throws {
        try await withStore { store in
            try await store.sell(product("song", .nonConsumable))
            try await store.finish(
                try await store.buy(request("film", username: "u"), key: "a").id
            )
            try await store.finish(try await store.buy(request("song"), key: "b").id)
            #expect(try await restored(store, key: "r", username: username).count == count)
        }
    }

    @Test func nothingToRestoreIsAnAnswerAndUsesItsKey() async throws {
        try await withStore { store in
            #expect(try await restored(store, key: "r").isEmpty)
            try await store.finish(try await store.buy(request("film"), key: "a").id)
            #expect(try await restored(store, key: "r").isEmpty)
        }
    }

    @Test func finishedEventsAndProductEventsBecomeProjections() async throws {
        try await withStore { store in
            let bought = try await store.buy(request("film"), key: "a")
            let change = QueueChanged(
                revision: 3,
                transaction: bought,
                isDelivered: true,
                finishedAt: startTime
            )
            let events = try [
                received(change, .transactionFinished, bought.id.rawValue),
                received(ProductChanged(product: product("new")), .productChanged, "new"),
            ]
            try await store.client.withTransaction { connection in
                try ProjectionHandler().apply(events, on: connection)
            }
            #expect(try await restored(store, key: "r").count == 1)
            try await store.add(request("new"), key: "b")
        }
    }

    @Test(arguments: [("film", 1), ("coins", 0)])
    func aFinishThatIsNoPlainTextIsReadToo(product: String, count: Int) async throws {
        try await withStore { store in
            var bought = try await store.buy(request(product), key: "a")
            bought.applicationUsername = "Zo\u{EB}"
            let change = QueueChanged(
                revision: 3,
                transaction: bought,
                isDelivered: true,
                finishedAt: startTime
            )
            let event = try received(change, .transactionFinished, bought.id.rawValue)
            try await store.client.withTransaction { connection in
                try ProjectionHandler().apply([event], on: connection)
            }
            #expect(try await restored(store, key: "r").count == count)
        }
    }

    func received(
        _ event: some Event,
        _ type: EventType,
        _ subject: String
    ) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: startTime),
            type: type,
            topic: "topic",
            key: "alice",
            subject: subject,
            time: startTime,
            data: try EventCoding.encode(event),
            partition: 0,
            offset: 0
        )
    }
}

import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct FinishHandlerTests {
    @Test func aFinishedPurchaseAnswersTheSameEverAfter() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, plan: [.entitlement, .app]))
            #expect(try await store.finish(1) == .finished(at: startOfTime))
            store.clock.advance(by: .seconds(100))
            #expect(try await store.finish(1) == .finished(at: startOfTime))
            let published = try await store.published()
            #expect(published.map(\.type) == [.queueChanged, .transactionFinished])
            #expect(published[1].change.revision == 2)
            #expect(published[1].change.finishedAt == startOfTime)
            #expect(published[1].change.isDelivered)
            #expect(try await store.reads.unfinished(in: .sample()).changes.isEmpty)
            let removed = try await store.reads.changes(in: .sample(), after: 1).changes
            #expect(removed.map(\.finishedAt) == [startOfTime])
        }
    }

    @Test func everyStateIsAnsweredInItsPlaceOfTheBatch() async throws {
        try await withFulfillment { store in
            try await store.arrive(
                .sample(1, version: 1, state: .purchasing),
                .sample(2, state: .deferred),
                .sample(3, state: .failed),
                .sample(4, plan: [.webhook(url: "https://merchant.example")]),
                .sample(5),
                .sample(6, account: "bob"),
                .sample(7, bundle: BundleID(unchecked: "com.example.other")),
                Transaction.sample(8).refunded()
            )
            let requests = [1, 2, 3, 4, 5, 5, 6, 7, 8, 9].map {
                FinishRequest(transactionID: TransactionID(number: $0), queue: .sample())
            }
            #expect(
                try await store.finishing.finish(requests) == [
                    .refused(.purchasing), .refused(.deferred), .finished(at: startOfTime),
                    .refused(.notDelivered), .finished(at: startOfTime),
                    .finished(at: startOfTime), .refused(.unknown), .refused(.unknown),
                    .finished(at: startOfTime), .refused(.unknown),
                ]
            )
            let finished = try await store.published().filter { $0.type == .transactionFinished }
            #expect(finished.map(\.change.transaction.id.number) == [3, 5, 8])
        }
    }

    @Test func aRequestForAQueueThatIsNotThereMakesNone() async throws {
        try await withFulfillment { store in
            #expect(try await store.finish(1, from: .sample("mallory")) == .refused(.unknown))
            let count = try await store.client.withConnection { connection in
                try connection.query("SELECT 1 FROM queues").count
            }
            #expect(count == 0)
        }
    }

    @Test func aChangeAfterTheFinishIsPublishedButLeavesTheQueueAlone() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1))
            try await store.finish(1)
            try await store.arrive(Transaction.sample(1).refunded())
            #expect(try await store.reads.unfinished(in: .sample()).changes.isEmpty)
            let last = try await store.published().last
            #expect(last?.type == .queueChanged)
            #expect(last?.change.finishedAt == startOfTime)
            #expect(last?.change.transaction.revokedAt != nil)
            #expect(try await store.finish(1) == .finished(at: startOfTime))
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func revisionsHaveNoGapAndNoDoubleWhileBatchesAndFinishesMeet(seed: RandomSeed) async throws {
        try await withFulfillment(poolSize: 8) { store in
            let accounts = (0..<6).map { "account\($0)" }
            let perTask = 40
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        var random = seed.generator(task)
                        for step in 0..<perTask {
                            let first = Int64(task * 10_000 + step * 10)
                            let batch = accounts.enumerated().shuffled(using: &random)
                                .map { index, account in
                                    Transaction.sample(first + Int64(index), account: account)
                                }
                            try await store.arrive(batch)
                            // The batch includes transactions that do not exist yet or that another
                            // task finishes.
                            let finishes = batch.shuffled(using: &random).map {
                                FinishRequest(transactionID: $0.id, queue: $0.queue)
                            }
                            _ = try await store.finishing.finish(finishes + finishes)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let published = try await store.published()
            for account in accounts {
                let revisions = published.filter {
                    $0.change.transaction.accountID.rawValue == account
                }.map(\.change.revision)
                #expect(revisions.sorted() == Array(1...Int64(4 * perTask * 2)))
                let page = try await store.reads.unfinished(in: .sample(account))
                #expect(page.revision == Int64(4 * perTask * 2))
                #expect(page.changes.isEmpty)
            }
        }
    }
}

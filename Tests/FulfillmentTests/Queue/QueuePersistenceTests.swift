import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Fulfillment

/// A transaction leaves a queue only by being finished (spec rule 45).
@Suite(.timeLimit(.minutes(10)))
struct QueuePersistenceTests {
    @Test func afterThirtyDaysEveryLaunchStillGetsAllUnfinished() async throws {
        try await StreamServer.run { server in
            let store = server.store
            try await store.arrive(
                .sample(1),
                .sample(2, state: .failed),
                .sample(3, state: .deferred),
                .sample(4, version: 1, state: .purchasing),
                .sample(5),
                .sample(6).refunded()
            )
            try await store.finish(5)
            let contents = store.contents(
                DiskContentStorage(directory: server.contentDirectory)
            )
            let watch = UnfinishedStore(client: store.client)
            for day in 1...30 {
                store.clock.advance(by: .seconds(86_400))
                // The work that runs by itself as time passes.
                _ = try await contents.removeLeftovers()
                _ = try await watch.summary()
                var launch = try await server.connect()
                for number: Int64 in [1, 2, 3, 4, 6] {
                    let change = try await launch.next()?.change
                    #expect(change?.transaction.id.number == number, "on day \(day)")
                    #expect(change?.finishedAt == nil)
                }
            }
            let answer = try await server.send(.GET, Routes.queueTransactions)
            let queue = try JSONDecoder().decode(QueueResponse.self, from: answer.body)
            #expect(queue.transactions.map(\.transaction.state).count == 5)
            // A change that the queue waits for still arrives.
            try await store.arrive(.sample(3, version: 4))
            let approved = try await store.reads.unfinished(in: .sample())
            #expect(approved.changes.map(\.transactionID.number) == [1, 2, 3, 4, 6])
            try await store.finish(3)
            #expect(try await store.reads.unfinished(in: .sample()).changes.count == 4)
        }
    }
}

import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Fulfillment

/// Unfinished transactions, as an administrator sees them (spec rule 58).
@Suite(.timeLimit(.minutes(10)))
struct UnfinishedTests {
    @Test func whatIsUnfinishedForLongIsListedAndMeasured() async throws {
        try await StreamServer.run { server in
            let store = server.store
            let count = Int64(UnfinishedRoutes.pageSize + 5)
            for number in 1...count {
                try await store.arrive(.sample(number, account: "account-\(number % 7)|&=/"))
            }
            // One that cannot be finished yet, and one that is finished.
            try await store.arrive(.sample(1_001, version: 1, state: .purchasing))
            try await store.arrive(.sample(1_002))
            try await store.finish(1_002)
            store.clock.advance(by: .seconds(25 * 3600))
            try await store.arrive(.sample(1_003))

            let watch = UnfinishedStore(client: store.client)
            #expect(
                try await watch.summary()
                    == UnfinishedStore.Summary(count: count + 1, oldest: startOfTime)
            )
            var seen: [TransactionID] = []
            var query = ""
            var pages = 0
            repeat {
                let answer = try await server.administer(.GET, Routes.adminUnfinished + query)
                #expect(answer.status == 200)
                let page = try JSONDecoder().decode(
                    UnfinishedResponse.self,
                    from: Data(answer.body)
                )
                seen += page.transactions.map(\.transactionID)
                query = page.next.map { "?after=\($0)" } ?? ""
                pages += 1
            } while !query.isEmpty
            #expect(pages == 2)
            #expect(seen.sorted() == (1...count).map(TransactionID.init(number:)))
            let all = try await server.administer(
                .GET,
                Routes.adminUnfinished + "?olderThanHours=0"
            )
            #expect(
                try JSONDecoder().decode(UnfinishedResponse.self, from: Data(all.body))
                    .transactions.count == UnfinishedRoutes.pageSize
            )
        }
    }

    @Test(arguments: ["olderThanHours=x", "after=zz", "after=0"]
    )
    func aQueryThatIsNoneIsRefused(query: String) async throws {
        try await StreamServer.run { server in
            let answer = try await server.administer(.GET, "\(Routes.adminUnfinished)?\(query)")
            #expect(answer.status == 400)
            #expect(try await server.send(.GET, Routes.adminUnfinished).status == 401)
        }
    }

    @Test func itWarnsOfWhatIsOlderThanAWeekOnceADay() async throws {
        try await withFulfillment { store in
            let watch = UnfinishedWatch(
                store: UnfinishedStore(client: store.client),
                now: store.clock.now,
                logger: quiet
            )
            #expect(await watch.measure(warnedAt: nil) == nil)
            try await store.arrive(.sample(1))
            #expect(await watch.measure(warnedAt: nil) == nil)
            store.clock.advance(by: .seconds(8 * 86_400))
            let first = await watch.measure(warnedAt: nil)
            #expect(first == store.clock.now())
            store.clock.advance(by: .seconds(3600))
            #expect(await watch.measure(warnedAt: first) == first)
            store.clock.advance(by: .seconds(86_400))
            #expect(await watch.measure(warnedAt: first) == store.clock.now())
        }
    }

    @Test func manyTransactionsAreMeasuredLessOften() {
        let rests = [Duration.milliseconds(1), .milliseconds(100), .seconds(60)].map {
            UnfinishedWatch.rest(after: $0, interval: .seconds(60))
        }
        #expect(rests == [.seconds(60), .seconds(200), .seconds(3600)])
    }
}

import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Fulfillment

/// Transactions that wait for an approval, as an administrator sees them.
@Suite(.timeLimit(.minutes(10))) struct DeferredTests {
    @Test func whatWaitsIsListedOldestFirstInPagesAndLeavesWhenDecided() async throws {
        try await StreamServer.run { server in
            let store = server.store
            let count = Int64(DeferredRoutes.pageSize + 5)
            // The newest id waits longest, and some wait since the same moment.
            for number in (1...count).reversed() {
                try await store.arrive(
                    .sample(number, state: .deferred, account: "account-\(number % 7)")
                )
                if number.isMultiple(of: 3) { store.clock.advance(by: .seconds(1)) }
            }
            try await store.arrive(.sample(1_001, version: 1, state: .purchasing))
            try await store.arrive(.sample(1_002))
            var seen: [DeferredTransaction] = []
            var query = ""
            var pages = 0
            repeat {
                let answer = try await server.administer(.GET, Routes.adminDeferred + query)
                #expect(answer.status == 200)
                let page = try JSONDecoder().decode(
                    DeferredResponse.self,
                    from: Data(answer.body)
                )
                seen += page.transactions
                query = page.next.map { "?after=\($0)" } ?? ""
                pages += 1
            } while !query.isEmpty
            #expect(pages == 2)
            #expect(
                seen.map(\.transactionID.number).sorted() == Array(1...count),
                "each once, and no other"
            )
            #expect(seen.map(\.since) == seen.map(\.since).sorted())
            #expect(seen.first.map { $0.transactionID.number > count - 3 } == true)
            #expect(seen.allSatisfy { $0.productID.rawValue == "coins.100" && $0.quantity == 1 })

            try await store.arrive(.sample(1, version: 3))
            let rest = try await DeferredStore(client: store.client).page(after: nil, limit: 1000)
            #expect(rest.count == seen.count - 1)
        }
    }

    @Test(arguments: ["after=zz", "after=1", "after=1.2.3", "after=-1.5", "after=1.x"])
    func anAfterThatIsNoneIsRefused(query: String) async throws {
        try await StreamServer.run { server in
            let answer = try await server.administer(.GET, "\(Routes.adminDeferred)?\(query)")
            #expect(answer.status == 400)
            #expect(try await server.send(.GET, Routes.adminDeferred).status == 401)
        }
    }
}

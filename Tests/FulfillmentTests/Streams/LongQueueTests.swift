import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import Testing

@testable import Fulfillment

/// A queue with more unfinished transactions than a page has.
@Suite(.timeLimit(.minutes(10)))
struct LongQueueTests {
    /// The transactions in the order in which they are sent: the first one changed last.
    private static let order = Array(Int64(2)...501) + [1] + Array(Int64(502)...600)

    /// Fills a queue with 600 transactions, the first of which changes again.
    private func fill(_ store: FulfillmentDatabase) async throws {
        try await store.arrive((1...600).map { Transaction.sample($0) })
        try await store.arrive(Transaction.sample(1).refunded())
    }

    @Test func aPageIsBoundedHoweverLongTheQueueIs() async throws {
        try await withFulfillment { store in
            try await fill(store)
            let first = try await store.reads.unfinished(in: .sample())
            #expect(first.changes.map(\.transactionID.number) == Array(Int64(2)...501))
            #expect(first.revision == 601)
            let next = try #require(first.nextUnfinished)
            // Both happen between two pages.
            try await store.finish(2)
            try await store.arrive(Transaction.sample(600).refunded())
            let asItWas = try await store.reads.unfinished(
                in: .sample(),
                after: next,
                through: first.revision
            )
            #expect(asItWas.nextUnfinished == nil)
            #expect(
                asItWas.changes.map(\.transactionID.number) == [1] + Array(Int64(502)...599)
            )
            let asItIs = try await store.reads.unfinished(in: .sample(), after: next)
            #expect(asItIs.nextUnfinished == nil)
            #expect(
                asItIs.changes.map(\.transactionID.number) == [1] + Array(Int64(502)...600)
            )
            #expect(asItIs.changes.last?.revision == 603)
        }
    }

    @Test func onlyTheFirstPageHasTheAccount() async throws {
        try await withFulfillment { store in
            try await store.arrive(accounts: [.sample(1)])
            try await fill(store)
            let first = try await store.reads.unfinished(in: .sample())
            let next = try #require(first.nextUnfinished)
            let second = try await store.reads.unfinished(in: .sample(), after: next)
            #expect(first.account != nil)
            #expect(second.account == nil)
        }
    }

    @Test func aStreamSendsALongQueuePageByPage() async throws {
        try await StreamServer.run { server in
            try await fill(server.store)
            var stream = try await server.connect()
            var sent: [Int64] = []
            var ids: [Int64] = []
            for _ in Self.order {
                let event = try #require(try await stream.next())
                sent.append(try event.change.transaction.id.number)
                ids.append(try #require(event.id.flatMap { Int64($0) }))
            }
            #expect(sent == Self.order)
            #expect(ids == ids.sorted())
            #expect(ids.last == 601)
            // What was sent is not sent again, and the next change follows.
            try await server.store.arrive(.sample(700))
            try await server.handOn()
            #expect(try await stream.next()?.change.transaction.id.number == 700)
        }
    }

    @Test func aStreamCutOffBetweenTwoPagesIsResumed() async throws {
        try await StreamServer.run { server in
            try await fill(server.store)
            var stream = try await server.connect()
            var last: String?
            for _ in 1...500 { last = try await stream.next()?.id }
            #expect(last == "501")
            var again = try await server.connect(after: last)
            var missing: Set<Int64> = []
            for _ in 1...100 {
                let event = try #require(try await again.next())
                missing.insert(try event.change.transaction.id.number)
            }
            #expect(missing == Set(Self.order.dropFirst(500)))
        }
    }

    @Test func theDocumentOfALongQueueIsComplete() async throws {
        try await StreamServer.run { server in
            try await fill(server.store)
            let (status, body) = try await server.send(.GET, Routes.queueTransactions)
            #expect(status == 200)
            let response = try JSONDecoder().decode(QueueResponse.self, from: body)
            #expect(response.revision == 601)
            #expect(response.transactions.map(\.transaction.id.number) == Self.order)
        }
    }
}

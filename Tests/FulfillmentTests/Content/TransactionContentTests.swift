import Callbacks
import EventTypes
import Foundation
import Messaging
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct TransactionContentTests {
    private let first = HostedContent.sample(version: "1.0", bytes: [1])
    private let second = HostedContent.sample(version: "1.1", bytes: [2])

    private func host(_ content: HostedContent, in store: FulfillmentDatabase) async throws {
        store.clock.advance(by: .seconds(1))
        let now = store.clock.now()
        _ = try await store.client.withTransaction { connection in
            try HostedContentStore.record(content, now: now, on: connection)
        }
    }

    private func withdraw(_ content: HostedContent, in store: FulfillmentDatabase) async throws {
        _ = try await store.contents(DiskContentStorage(directory: "/nowhere"))
            .withdraw(content.version, of: content.contentIdentifier)
    }

    @Test func aTransactionKeepsTheContentItEnteredTheQueueWith() async throws {
        try await withFulfillment { store in
            try await host(first, in: store)
            try await store.arrive(
                .sample(1, product: "level.1", plan: [.webhook(url: "https://merchant.example")])
            )
            try await host(second, in: store)
            try await store.arrive(.sample(2, product: "level.1"))
            try await store.arrive(.sample(1, product: "level.1").refunded())
            try await store.finish(1)
            let published = try await store.published()
            #expect(published.map(\.change.transaction.id.number) == [1, 2, 1, 1])
            #expect(published.map(\.change.contents) == [[first], [second], [first], [first]])
            let outbox = try await store.outbox()
            let page = try await store.reads.unfinished(in: .sample())
            #expect(page.changes.map(\.data) == [outbox[1].data])
            let changes = try await store.reads.changes(in: .sample(), after: 0).changes
            #expect(
                changes.map(\.contents)
                    == [HostedContent.json(of: [second]), HostedContent.json(of: [first])]
            )
        }
    }

    @Test func oneThatWaitedCarriesWhatThereIsWhenItIsPaid() async throws {
        try await withFulfillment { store in
            try await host(first, in: store)
            try await store.arrive(
                .sample(1, version: 1, state: .purchasing, product: "level.1")
            )
            try await host(second, in: store)
            try await store.arrive(.sample(1, product: "level.1"))
            #expect(try await store.published().map(\.change.contents) == [nil, [second]])
        }
    }

    @Test func aRestoredOneCarriesWhatThereIsAtTheRestore() async throws {
        try await withFulfillment { store in
            try await host(first, in: store)
            try await store.arrive(.sample(1, product: "level.1"))
            try await host(second, in: store)
            try await store.arrive(
                .sample(2, state: .restored, product: "level.1", originalID: 1)
            )
            #expect(try await store.published().map(\.change.contents) == [[first], [second]])
        }
    }

    @Test func aWithdrawnContentIsForNobodyNewAndTheOneBeforeItIs() async throws {
        try await withFulfillment { store in
            try await host(first, in: store)
            try await host(second, in: store)
            try await store.arrive(.sample(1, product: "level.1"))
            try await withdraw(second, in: store)
            try await store.arrive(.sample(2, product: "level.1"))
            try await withdraw(first, in: store)
            try await store.arrive(.sample(3, product: "level.1"))
            #expect(
                try await store.published().map(\.change.contents) == [[second], [first], nil]
            )
        }
    }

    @Test func inOneBatchEachTransactionCarriesItsOwnContents() async throws {
        try await withFulfillment { store in
            try await host(first, in: store)
            try await host(.sample(product: "level.2"), in: store)
            try await store.arrive([
                .sample(1, product: "level.1"), .sample(2, product: "level.2"), .sample(3),
                .sample(4, product: "level.1").refunded(),
                .sample(5, state: .failed, product: "level.1"),
                .sample(1, product: "level.1").refunded(),
            ])
            let published = try await store.published()
            #expect(
                published.map(\.change.contents)
                    == [[first], [.sample(product: "level.2")], nil, nil, nil, [first]]
            )
            let plain = String(decoding: try await store.outbox()[2].data, as: UTF8.self)
            #expect(plain.hasPrefix("{\"isDelivered\":"))
        }
    }

    @Test func aDeliveryThatCompletesByWebhookSaysWhatTheTransactionCarries() async throws {
        try await withFulfillment { store in
            try await host(first, in: store)
            try await store.arrive(
                .sample(1, product: "level.1", plan: [.webhook(url: "https://merchant.example")])
            )
            let due = try await store.webhooks.take(limit: 1, excluding: [])
            try await store.webhooks.record(
                due.map {
                    WebhookOutcome(
                        webhook: $0,
                        result: .success,
                        time: startOfTime,
                        nextAttemptAt: startOfTime.onMachines
                    )
                }
            )
            let published = try await store.published()
            #expect(published.map(\.change.isDelivered) == [false, true])
            #expect(published.map(\.change.contents) == [[first], [first]])
        }
    }
}

import Callbacks
import EventTypes
import Messaging
import StoreAPI
import TestSupport
import Testing

@testable import Fulfillment

/// Webhooks of a store whose clock was set, on machines whose clocks were not.
@Suite(.timeLimit(.minutes(10))) struct TwoClocksTests {
    @Test func aWebhooksLeaseIsMachineTimeAndItsDeliveryIsStoreTime() async throws {
        try await withFulfillment { store in
            let ahead = Duration.seconds(365 * 86_400)
            let target = DeliveryTarget.webhook(url: "https://merchant.example/hook")
            try await store.arrive(.sample(1, plan: [target]))
            #expect(try await store.webhooks.take(limit: 1, excluding: []).count == 1)
            // A year on the store's clock ends no lease.
            store.clock.set(storeAhead: ahead)
            #expect(try await store.webhooks.take(limit: 1, excluding: []).isEmpty)
            store.clock.advance(by: .seconds(31))
            let again = try await store.webhooks.take(limit: 1, excluding: [])
            #expect(again.map(\.attempt) == [2])

            try await store.webhooks.record([
                WebhookOutcome(
                    webhook: again[0],
                    result: .success,
                    time: store.clock.now(),
                    nextAttemptAt: store.clock.machineNow()
                )
            ])
            let confirmed = try #require(
                try await store.outbox().first { $0.type == .deliveryConfirmed }
            )
            #expect(confirmed.time == store.clock.now())
            #expect(try confirmed.decode(DeliveryConfirmed.self).confirmedAt == confirmed.time)
        }
    }
}

import EventTypes
import Messaging
import Postgres
import StoreAPI
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// The life of a subscription under advances of the store's clock.
@Suite(.timeLimit(.minutes(10))) struct ClockLifeTests {
    private static let day = Duration.seconds(86_400)

    /// Rule S418: what happens follows from the times at which it is due.
    @Test func oneLongAdvanceIsTheSameAsManyShortOnes() async throws {
        let start = try await Self.time().advanced(by: Self.day)
        let atOnce = try await Self.life(from: start, advancing: [Self.day * 366])
        let inSteps = try await Self.life(
            from: start,
            advancing: Array(repeating: Self.day * 61, count: 6)
        )
        #expect(atOnce == inSteps)
        // The renewal is unpaid at each end, and recovers a day later.
        #expect(atOnce.count >= 20, "\(atOnce)")
    }

    /// The present time of a store whose clock was never set.
    private static func time() async throws -> StoreTime {
        let time = Mutex<StoreTime?>(nil)
        try await withClock { clock in
            let frozen = try await clock.perform(.freeze).get().now
            time.withLock { $0 = frozen }
        }
        return try #require(time.withLock { $0 })
    }

    /// Buys a subscription at a time, advances the clock by each span, and tells what has changed when.
    private static func life(
        from start: StoreTime,
        advancing spans: [Duration]
    ) async throws -> [String] {
        let life = Mutex<[String]>([])
        try await withClock { clock in
            _ = try await clock.perform(.freeze).get()
            _ = try await clock.advance(.to(start), "start").get()
            #expect(try await clock.keeper().look() == false)
            let store = Store(
                client: clock.client,
                now: { clock.process.now },
                machineNow: { clock.client.machineTime }
            )
            try await store.sell(club())
            let bought = request("club", price: usd(299), method: .renewalRecovers)
            _ = try await store.buy(bought, key: "1")
            let keeper = clock.keeper(works: [Self.work])
            for (number, span) in spans.enumerated() {
                let key = IdempotencyKey(unchecked: "advance-\(number)")
                _ = try await clock.advance(.by(span), key).get()
                while try await keeper.look() {
                    while try await store.renewals.carryOut(limit: 10) > 0 {
                        try await store.settle()
                    }
                }
            }
            let changes = try await store.subscriptionChanges().map { change in
                let (cause, period) = (change.cause.rawValue, change.subscription.period)
                return "\(cause) at \(change.changedAt): \(period.start) to \(period.end)"
            }
            life.withLock { $0 = changes }
        }
        return life.withLock { $0 }
    }

    /// The work of subscriptions.
    private static let work = DueWorkQueue(
        name: "subscriptions",
        next: { connection in
            let due = try DueSubscriptionStore.next(on: connection)
            return Dictionary(uniqueKeysWithValues: due.map { ($0.key.rawValue, $0.value) })
        },
        count: nil,
        wake: {}
    )
}

import EventTypes
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Prices that the operator schedules while the store runs.
    @Suite
    struct ScheduledPrices {
        @Test func aScheduledPriceReachesNewBuyersAndSubscribers() async throws {
            try await withStore { store in
                _ = try await store.subscribe()
                let answer = try await store.scheduleRaise()
                #expect(answer.exit == .code(0), "\(answer.output)")
                #expect(answer.output.contains("2.99 USD → 3.49 USD from "), "\(answer.output)")
                let told = try await store.untilTold()
                #expect(told.priceIncrease?.price == SampleCatalog.usd(349))
                let advance = try await store.counterfoil("clock", "advance", "70d")
                #expect(advance.exit == .code(0), "\(advance.output)")
                try await store.expectPeriods(for: [299, 299, 349])

                let client = try store.client(account: "ben")
                var request = PaymentRequest.sample(SampleCatalog.club)
                let late = try await client.addUntilAnswered(request)
                #expect(late.problem?.code == "stale_price")
                request.price = SampleCatalog.usd(349)
                let bought = try await client.addUntilAnswered(request).value.transaction
                let paid = try await client.wait(for: bought.id, toBe: .purchased)
                #expect(paid.price == SampleCatalog.usd(349))
                try await client.finishUntilDone(bought.id)
                try await store.expectSoundBooks()
            }
        }

        /// The crash point of a page, in the table of Messaging's documentation.
        @Test func beforeAPageOfSubscribersIsTold() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                _ = try await store.subscribe()
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "UPDATE price_enrolments SET")
                )
                let answer = try await store.scheduleRaise()
                #expect(answer.exit == .code(0), "\(answer.output)")
                try await store.crash(.payments, at: hold)
                // The purchase was the first version, and the raise is the second.
                #expect(try await store.untilTold().version == 2)
                let advance = try await store.counterfoil("clock", "advance", "70d")
                #expect(advance.exit == .code(0), "\(advance.output)")
                try await store.expectPeriods(for: [299, 299, 349])
                try await store.expectSoundBooks()
            }
        }
    }
}

extension StoreHarness {
    /// Schedules a higher price for all, which counts from between the first two renewals on.
    fileprivate func scheduleRaise() async throws -> ProgramAnswer {
        let time = try await readClock().now.advanced(by: .seconds(40 * 86_400))
        return try await counterfoil(
            "products",
            "price",
            SampleCatalog.club.rawValue,
            "USA",
            "3.49",
            "--from",
            "\(time)",
            "--raise-subscribers"
        )
    }

    /// Waits until the account's subscription has the raise.
    fileprivate func untilTold() async throws -> Subscription {
        let client = try client(account: "ada")
        return try await eventually("the subscriber to be told") {
            let all = try await client.subscriptions().value.subscriptions
            return all.first { $0.priceIncrease?.status == .scheduled }
        }
    }

    /// Expects periods of the account's subscription at these prices in cents, and finishes them.
    fileprivate func expectPeriods(for cents: [Int64]) async throws {
        let client = try client(account: "ada")
        let queued = try await eventually("the renewals to be delivered") {
            let queued = try await client.unfinished().value.transactions
            return queued.count == cents.count && queued.allSatisfy(\.isDelivered) ? queued : nil
        }
        let paid = queued.map(\.transaction).sorted { $0.id < $1.id }
        #expect(paid.map(\.price) == cents.map(SampleCatalog.usd))
        for transaction in paid { try await client.finishUntilDone(transaction.id) }
    }

    /// Expects that the books can be rebuilt, and that they agree.
    fileprivate func expectSoundBooks() async throws {
        let proof = try await verify()
        #expect(proof.exit == .code(0), "\(proof.output)")
        try await agreedBooks()
    }
}

import EventTypes
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// A part of the store hangs without ending, and resumes later.
    ///
    /// Everything accepted is completed.
    @Suite
    struct Hangs {
        @Test func allOfPostgresIsFrozenWhileBuying() async throws {
            try await withStore(.with(database: .own)) { store in
                try await store.importSampleCatalog()
                let before = try await store.buy(as: "before")
                try store.cluster.freeze()
                async let during = store.buy(inParallel: 8, as: "during")
                try await stand(still: .seconds(4))
                #expect(try await store.client(account: "before").isKeptWaiting(for: before))
                try store.cluster.thaw()
                let after = try await store.buy(as: "after")
                try await store.expectWhole([before, after] + during)
            }
        }

        @Test func theBrokerIsFrozenWhileBuying() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var payments = [try await store.buy(as: "before")]
                try await store.finish(payments)
                store.broker.freeze(node: 1)
                // PostgreSQL is the source of truth. A payment needs no broker, but its delivery
                // does.
                for number in 0..<6 {
                    payments.append(try await store.buy(as: "during-\(number)"))
                }
                try await stand(still: .seconds(4))
                let client = try store.client(account: "during-0")
                #expect(try await client.finish(payments[1].transactionID).valueIfAny == nil)
                store.broker.thaw(node: 1)
                payments.append(try await store.buy(as: "after"))
                try await store.expectWhole(payments)
            }
        }

        @Test(arguments: [StoreService.payments, .receipts, .fulfillment])
        func anInstanceIsFrozenAndGoesOn(service: StoreService) async throws {
            try await withStore(.with(replicas: [service: 2])) { store in
                try await store.importSampleCatalog()
                var payments = [try await store.buy(as: "before")]
                store.process(service, 1).freeze()
                for number in 0..<6 {
                    payments.append(try await store.buy(as: "during-\(number)", instance: 2))
                }
                try await stand(still: .seconds(4))
                #expect(await !store.process(service, 1).isReady())
                try await store.process(service, 2).waitUntilReady()
                store.process(service, 1).thaw()
                payments.append(try await store.buy(as: "after"))
                try await store.expectWhole(payments)
                try await store.waitUntilReady()
            }
        }

        /// Messages that `payments` sent while the connection was blocked, including a commit,
        /// arrive long after it gave up on them.
        @Test(arguments: [false, true])
        func theLineToPostgresIsDarkWhileBuying(thenCut: Bool) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let before = try await store.buy(as: "before")
                let proxy = try #require(store.postgresProxies[.payments])
                try await proxy.darken()
                async let during = store.buy(inParallel: 8, as: "during")
                try await stand(still: .seconds(4))
                #expect(try await store.client(account: "before").isKeptWaiting(for: before))
                try await proxy.lighten(cutting: thenCut)
                let after = try await store.buy(as: "after")
                try await store.expectWhole([before, after] + during)
            }
        }

        @Test func theLineToTheBrokerIsDarkWhileBuying() async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                var payments = [try await store.buy(as: "before")]
                let proxy = try #require(store.kafkaProxy)
                try await proxy.darken()
                for number in 0..<6 {
                    payments.append(try await store.buy(as: "during-\(number)"))
                }
                try await stand(still: .seconds(4))
                try await proxy.lighten()
                try await store.expectWhole(payments)
            }
        }
    }
}

/// Waits while something hangs.
///
/// The fault is the passing of time, so there is no event to wait for.
private func stand(still time: Duration) async throws {
    try await Task.sleep(for: time)
}

extension StoreHarness {
    /// Buys from several accounts in parallel and repeats each payment until it is answered.
    fileprivate func buy(inParallel count: Int, as name: String) async throws -> [AcceptedPayment] {
        try await withThrowingTaskGroup(of: AcceptedPayment.self) { group in
            for number in 0..<count {
                group.addTask { try await self.buy(as: "\(name)-\(number)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension StoreClient {
    /// Whether a request about a payment is not answered within a second.
    fileprivate func isKeptWaiting(for payment: AcceptedPayment) async -> Bool {
        var client = self
        client.timeout = .seconds(1)
        let begin = ContinuousClock.now
        let answer = try? await client.transaction(payment.transactionID)
        // A connection that is refused is no answer either, but ends at once.
        return answer == nil && ContinuousClock.now - begin >= .milliseconds(900)
    }
}

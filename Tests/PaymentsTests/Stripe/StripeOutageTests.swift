import EventTypes
import Logging
import Postgres
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// A Stripe that is away for long, and processes that die with what they have begun.
@Suite(.timeLimit(.minutes(10))) struct StripeOutageTests {
    @Test func aDayWithoutStripeFailsNoPaymentAndEachIsChargedOnce() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            let ids = try await withStripeDown { url in
                try await store.anotherProcess(at: url) { away in
                    var ids: [TransactionID] = []
                    for key in ["a", "b", "c"] {
                        ids.append(try await away.buy(by: card, key: key).id)
                    }
                    for _ in 0..<24 { try await away.recover(after: .seconds(3600)) }
                    for id in ids { #expect(try await away.load(id).state == .purchasing) }
                    return ids
                }
            }
            #expect(store.standIn.entries.isEmpty)
            for _ in 0..<4 { try await store.recover() }
            for id in ids { #expect(try await store.load(id).state == .purchased) }
            #expect(store.standIn.entries.map(\.amount) == [999, 999, 999])
        }
    }

    /// The key is revoked after one charge was made, whose answer is lost, and before the next one.
    @Test func aKeyThatIsRevokedInFlightFailsNoPayment() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            store.standIn.inject(
                StandInFault(.lostAfter, path: "/v1/payment_intents", method: "POST")
            )
            let lost = try await store.buy(by: card)
            store.standIn.revoke(store.key)
            let refused = try await store.buy(by: card, key: "b")
            for _ in 0..<12 { try await store.recover(after: .seconds(3600)) }
            let calls = store.standIn.paymentCalls
            for id in [lost.id, refused.id] {
                #expect(try await store.load(id).state == .purchasing)
            }
            try await store.anotherProcess(under: "rk_test_ijklmnop2") { other in
                for _ in 0..<4 { try await other.recover() }
            }
            for id in [lost.id, refused.id] {
                #expect(try await store.load(id).state == .purchased)
            }
            // Only the one that was never made is called for.
            #expect(store.standIn.paymentCalls == calls + 1)
            #expect(store.standIn.entries.map(\.kind) == ["charge", "charge"])
        }
    }

    @Test(arguments: [true, false])
    func aPaymentThatIsProcessedIsFinishedByAnotherProcess(succeeds: Bool) async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_standInProcessing"))
            let reference = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.end(payment: reference, succeeds: succeeds)
            // The process that began it is dead.
            try await store.anotherProcess { other in
                try await other.recover(after: .seconds(60))
            }
            let ended = try await store.load(bought.id)
            #expect(ended.state == (succeeds ? .purchased : .failed))
            #expect(store.paid == (succeeds ? 999 : 0))
            #expect(try await store.counts("ledger_postings") == [succeeds ? 1 : 0])
        }
    }

    @Test func anEventThatADeadProcessHasTakenIsAppliedByAnother() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_standInProcessing"))
            let reference = try #require(try await store.charge(of: bought.id).reference).rawValue
            try store.standIn.end(payment: reference, succeeds: true)
            try await store.events.readList(pause: .seconds(300))
            store.clock.advance(by: ProcessorEventHandler.delay)
            let time = store.clock.machineNow()
            let taken = try await store.client.withTransaction { connection in
                try ProcessorEventStore.takeDue(
                    of: .default,
                    at: time,
                    until: time.advanced(by: ProcessorEventHandler.lease),
                    limit: 10,
                    on: connection
                )
            }
            #expect(!taken.isEmpty)
            try await store.applyEvents()
            #expect(try await store.load(bought.id).state == .purchasing)
            try await store.applyEvents(after: ProcessorEventHandler.lease)
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(try await store.counts("ledger_postings") == [1])
        }
    }
}

/// Runs a body while nothing but errors comes from the address that it gets.
private func withStripeDown<Result: Sendable>(
    _ body: @escaping @Sendable (String) async throws -> Result
) async throws -> Result {
    let server = StandInServer()
    server.inject(StandInFault(.down, count: .max))
    let (urls, running) = AsyncStream<String>.makeStream()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await server.run(logger: logger) { running.yield($0) } }
        for await url in urls { return try await body(url) }
        throw HarnessError("The stand-in ended before the test.")
    }
}

extension StripeStore {
    /// Runs another process of the store, on the same database and at the same time.
    ///
    /// - Parameters:
    ///   - url: The address at which it calls Stripe; by default the one of this process.
    ///   - key: The key that it has; by default the one of this process.
    ///   - body: Receives the process.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    fileprivate func anotherProcess<Result: Sendable>(
        at url: String? = nil,
        under key: String? = nil,
        _ body: @Sendable (StripeStore) async throws -> Result
    ) async throws -> Result {
        let other = try StripeStore(
            client: client,
            standIn: standIn,
            url: url ?? self.url,
            key: key ?? self.key,
            clock: clock
        )
        do {
            let result = try await body(other)
            await other.stripe.shutDown()
            return result
        } catch {
            await other.stripe.shutDown()
            throw error
        }
    }
}

import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// The crash points of subscriptions, in the table of Messaging's documentation.
    @Suite
    struct RenewalCrashPoints {
        @Test func beforeARenewalIsBegun() async throws {
            try await kill(.beforeCommit(ofTransactionWith: "INSERT INTO processor_attempts"))
        }

        @Test(.onlySandbox("It stops a statement of the sandbox's books."))
        func afterARenewalIsBegunBeforeItsCharge() async throws {
            try await kill(.beforeStatement(containing: "INSERT INTO sandbox_processor.charges"))
        }

        @Test func afterARenewalIsChargedBeforeItsCommit() async throws {
            try await kill(.beforeCommit(ofTransactionWith: "INTO ledger_postings"))
        }

        @Test func afterARenewalIsCommittedBeforeItIsPublished() async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                let proxy = try #require(store.kafkaProxy)
                try await store.renew(killing: .payments) {
                    proxy.hold(
                        at: .beforeRequest(
                            .produce,
                            client: "payments",
                            containing: Topics.paymentsTransactions.name
                        )
                    )
                }
            }
        }

        @Test(arguments: [StoreService.receipts, .fulfillment])
        func beforeAChangeOfASubscriptionIsApplied(_ service: StoreService) async throws {
            try await withStore(.with(postgresProxies: [service])) { store in
                try await store.renew(killing: service) {
                    try store.hold(
                        service,
                        .beforeCommit(ofTransactionWith: "INSERT INTO subscriptions AS known")
                    )
                }
            }
        }

        @Test(arguments: [StoreService.receipts, .fulfillment])
        func aYearHasTheSameDatesIfAServiceIsKilledMeanwhile(
            _ service: StoreService
        ) async throws {
            try await withStore(.with(postgresProxies: [service])) { store in
                let first = try await store.subscribe()
                let start = try await store.readClock().now
                let hold = try store.hold(
                    service,
                    .beforeCommit(ofTransactionWith: "INSERT INTO subscriptions AS known")
                )
                async let asked = store.advanceClock("370d", from: start)
                try await store.crash(service, at: hold)
                _ = try await asked
                try await store.expectAYear(of: first)
            }
        }

        @Test func aYearHasTheSameDatesIfTheBrokerIsLostMeanwhile() async throws {
            try await withStore { store in
                let first = try await store.subscribe()
                let start = try await store.readClock().now
                await store.broker.kill()
                async let asked = store.advanceClock("370d", from: start)
                try await store.untilAdvanced(pastADayAfter: start)
                try await store.broker.restart()
                _ = try? await asked  // Its answer may be late.
                _ = try await store.advanceClock("370d", from: start)
                try await store.expectAYear(of: first)
            }
        }

        /// Kills `payments` at a point of a renewal, and expects that it is made, once.
        private func kill(_ point: PostgresProxy.Point) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.renew(killing: .payments) { try store.hold(.payments, point) }
            }
        }

        @Test func beforeAPeriodsEndIsCommitted() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                let id = try await store.subscribe().transactionID
                let answer = try await store.client(account: "ada").raw(
                    .PUT,
                    store.urls.payments + Routes.autoRenew(id),
                    body: Array(#"{"isOn":false}"#.utf8)
                )
                #expect(answer.status == 200)
                let start = try await store.readClock().now
                let hold = try store.hold(.payments, .anyChange)
                async let asked = store.advanceClock("31d", from: start)
                try await store.crash(.payments, at: hold)
                _ = try? await asked  // Its answer may be lost.
                _ = try await store.advanceClock("31d", from: start)
                try await store.expectSubscription(.expired, changes: 3)
            }
        }

        /// Four tries fail, the period ends, and the next try recovers: eleven commits, and `payments` is
        /// killed before each of them.
        @Test func beforeEachCommitOfARenewalThatRecovers() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                let first = try await store.subscribe(by: .renewalRecovers)
                let start = try await store.readClock().now
                let payments = store.process(.payments)
                var hold = try store.hold(.payments, .anyChange)
                let asked = Task { _ = try? await store.advanceClock("34d", from: start) }
                defer { asked.cancel() }
                for number in 1...11 {
                    try await hold.reached()
                    await payments.kill()
                    try await hold.dropped()
                    hold.release()
                    // The commit that was lost comes first.
                    if number < 11 { hold = try store.hold(.payments, .anyChange, occurrence: 2) }
                    try await payments.start()
                    try await payments.waitUntilReady()
                }
                _ = try await store.advanceClock("34d", from: start)
                try await store.expectOneRenewal(of: first)
                try await store.expectSubscription(.active, changes: 3)
            }
        }

        @Test(.onlySandbox("It stops a statement of the sandbox's books."))
        func betweenAnUpgradesChargeAndItsRefund() async throws {
            try await upgrade(.beforeStatement(containing: "INTO sandbox_processor.refunds"))
        }

        @Test func afterAnUpgradesRefundBeforeItsCommit() async throws {
            // The first posting is that of the charge.
            try await upgrade(.beforeCommit(ofTransactionWith: "INTO ledger_postings"), 2)
        }

        /// Kills `payments` while it gives back the rest of a period that an upgrade has ended.
        private func upgrade(_ point: PostgresProxy.Point, _ occurrence: Int = 1) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.addSubscription(SampleCatalog.gold)
                let id = try await store.subscribe().transactionID
                _ = try await store.advanceClock("10d", from: try await store.readClock().now)
                let hold = try store.hold(.payments, point, occurrence: occurrence)
                let gold = try await store.buy(SampleCatalog.gold)
                try await store.crash(.payments, at: hold)
                try await store.client(account: "ada").wait(
                    for: gold.transactionID,
                    toBe: .purchased
                )
                let books = try await eventually(
                    every: .milliseconds(200),
                    "the refund to be settled"
                ) {
                    let books = try await store.reconcile().transactions?.first { $0.id == id }
                    return books?.entry?.refunds.isEmpty == false ? books : nil
                }
                let refunds = books.entry?.refunds ?? []
                #expect(refunds.count == 1 && refunds.allSatisfy { !$0.revokes })
                #expect(books.charges.map(\.returned) == refunds.map(\.amount))
                #expect(books.postings.count { $0.kind == "refund" } == 1)
                try await store.expectSubscription(.active, changes: 2)
            }
        }

        @Test func theBrokerIsLostBeforeAPeriodsEnd() async throws {
            try await withStore { store in
                let first = try await store.subscribe()
                let start = try await store.readClock().now
                await store.broker.kill()
                async let asked = store.advanceClock("31d", from: start)
                try await store.untilAdvanced(pastADayAfter: start)
                try await store.broker.restart()
                _ = try? await asked
                _ = try await store.advanceClock("31d", from: start)
                try await store.expectOneRenewal(of: first)
                try await store.expectSubscription(.active, changes: 2)
            }
        }
    }
}

extension PostgresProxy.Point {
    /// Before the commit of any change of a subscription in `payments`.
    fileprivate static let anyChange = PostgresProxy.Point.beforeCommit(
        ofTransactionWith: "UPDATE subscriptions AS s"
    )
}

extension StoreHarness {
    /// Subscribes, kills a service at a hold while the renewal is due, and expects that it is made, once.
    fileprivate func renew(
        killing service: StoreService,
        at hold: () throws -> Hold
    ) async throws {
        let first = try await subscribe()
        let start = try await readClock().now
        let hold = try hold()
        async let asked = advanceClock("31d", from: start)
        try await crash(service, at: hold)
        _ = try? await asked  // Its answer may be lost.
        _ = try await advanceClock("31d", from: start)
        try await expectOneRenewal(of: first)
        try await expectSubscription(.active, changes: 2)
    }

    /// Expects twelve renewals, whose periods follow each other.
    ///
    /// Each is charged as long before its period as the others: a day, less its subscription's part of
    /// the six hours over which charges are spread.
    fileprivate func expectAYear(of first: AcceptedPayment) async throws {
        let transactions = try await expectRenewals(12, of: first)
        var leads: Set<Int64> = []
        for (earlier, later) in zip(transactions, transactions.dropFirst()) {
            let start = try #require(later.subscription?.start)
            #expect(start == earlier.subscription?.end)
            leads.insert(start.millisecondsSinceEpoch - later.requestedAt.millisecondsSinceEpoch)
        }
        #expect(leads.count == 1 && leads.allSatisfy { (64_800_000...86_400_000).contains($0) })
        try await expectSubscription(.active, changes: 13)
    }

    /// Expects the state of the account's only subscription, and how often it has changed.
    ///
    /// Each change raises the version by one, and the audit of the books compares it with them.
    fileprivate func expectSubscription(
        _ state: SubscriptionState,
        changes: Int
    ) async throws {
        let answer = try await client(account: "ada").raw(
            .GET,
            urls.payments + Routes.subscriptions
        )
        let all = try answer.decode(SubscriptionsResponse.self).subscriptions
        #expect(all.map(\.state) == [state] && all.map(\.version) == [changes])
        try await agreedBooks()
    }
}

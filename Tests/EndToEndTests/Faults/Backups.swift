import EventTypes
import NIOHTTP1
import Postgres
import StoreAPI
import StripeStandIn
import Testing
import TestSupport

extension EndToEnd {
    /// A complete store that was restored from a physical backup, as described in
    /// `deploy/README.md`.
    @Suite
    struct Backups {
        /// A client may hold a signed receipt of a purchase that is missing in the restored books.
        ///
        /// The test loses more purchases than the 32 values by which a sequence is ahead in the
        /// write-ahead log. A plain sequence would therefore repeat its numbers.
        @Test(.onlySandbox("Stripe remembers the lost charges, and the audit names each."))
        func nothingBoughtAfterARestoreHasTheIDOfALostPurchase() async throws {
            try await withStore(.with(database: .own)) { store in
                try await store.importSampleCatalog()
                let kept = try await store.buy(as: "kept")
                try await store.expectWhole([kept])
                try store.cluster.backUp(as: "backup")
                let lost = try await store.buy(from: "lost", count: 60)
                try await store.expectWhole([kept] + lost)
                let lostApps = try await store.appTransactions()
                #expect(lostApps.count == 61)

                try await store.restore(from: "backup")

                let bought = try await store.buy(from: "new", count: 60)
                try await store.expectWhole([kept] + bought)
                let ids = Set(bought.map(\.transactionID))
                #expect(ids.isDisjoint(with: lost.map(\.transactionID)))
                let orders = Set(ids.map { OrderID($0) })
                #expect(orders.isDisjoint(with: lost.map { OrderID($0.transactionID) }))
                let apps = try await store.appTransactions()
                #expect(apps.count == 61)
                #expect(apps.intersection(lostApps).count == 1, "that of the kept account alone")
            }
        }

        /// The backup is older than a minute, so the store notices that it was restored (rule S524).
        @Test func aRenewalOfALostHourIsNotChargedAgain() async throws {
            var options = StoreOptions.with(database: .own)
            options.processor = .stripe
            try await withStore(options) { store in
                let stripe = try #require(store.stripe)
                let first = try await store.subscribe()
                let start = try await store.readClock().now
                try store.cluster.backUp(as: "backup")
                _ = try await store.advanceClock("31d", from: start)
                let lost = try await store.expectOneRenewal(of: first)
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])

                try await store.restore(from: "backup", minutesOld: 60)

                _ = try await store.advanceClock("31d", from: start)
                let renewal = try await store.expectOneRenewal(of: first)
                #expect(renewal.id != lost.id)
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])
                let named = stripe.server.entries.map(\.transaction)
                #expect(named == [first.transactionID.rawValue, renewal.id.rawValue])
                #expect(try await store.reconcile().differences.isEmpty)
            }
        }

        /// The bank ends the charge after the store was restored to before its payment.
        @Test func aWebhookAboutALostPaymentIsCountedAndItsChargeIsNamed() async throws {
            var options = StoreOptions.with(database: .own)
            options.processor = .stripe
            options.endsProcessing = false
            try await withStore(options) { store in
                let stripe = try #require(store.stripe)
                try await store.importSampleCatalog()
                let kept = try await store.buy(as: "kept")
                try await store.expectWhole([kept])
                try store.cluster.backUp(as: "backup")
                _ = try await store.buy(by: .processing, as: "lost")
                let lost = try await eventually("a charge that is under way") {
                    stripe.server.processedPayments.first
                }
                try await store.restore(from: "backup")
                try stripe.server.end(payment: lost, succeeds: true)
                try await eventually("the webhook to be counted") { () async throws -> Bool? in
                    let page = try await StoreHTTP.send(
                        .GET,
                        store.process(.payments).url + "/metrics"
                    ).text
                    let lines = page.split(separator: "\n")
                    let name = "processor_events_unknown_total "
                    let line = lines.first { $0.hasPrefix(name) }
                    guard let line else { return nil }
                    return line == "\(name)0" ? nil : true
                }
                let named = try await eventually(
                    every: .milliseconds(200),
                    "the charge to be named"
                ) {
                    let found = try await store.reconcile().differences
                    return found.map(\.kind) == ["chargeUnknown"] ? found.first : nil
                }
                #expect(named.subject == lost)
            }
        }
    }
}

extension StoreHarness {
    /// Kills all services, restores their databases, and starts them.
    ///
    /// - Parameters:
    ///   - backup: The backup.
    ///   - minutes: The age that the backup is to have.
    /// - Throws: An error of the database or of a service.
    fileprivate func restore(from backup: String, minutesOld minutes: Int = 0) async throws {
        for process in processes { await process.kill() }
        try await cluster.restore(from: backup)
        if minutes > 0 {
            _ = try await withDatabase(of: .payments) { connection in
                try connection.execute(
                    """
                    UPDATE book_memory
                    SET seen_at = seen_at - \(Int64(minutes)) * interval '1 minute'
                    """
                )
            }
        }
        try await broker.restart()
        for process in processes { try await process.start() }
        try await waitUntilReady()
    }

    /// Makes one purchase for each of several accounts.
    fileprivate func buy(from name: String, count: Int) async throws -> [AcceptedPayment] {
        var payments: [AcceptedPayment] = []
        for number in 1...count { payments.append(try await buy(as: "\(name)-\(number)")) }
        return payments
    }

    /// Returns the ids of all accounts' app transactions.
    fileprivate func appTransactions() async throws -> Set<Int64> {
        try await withDatabase(of: .receipts) { connection in
            let rows = try connection.query("SELECT app_transaction_id FROM app_transactions")
            return Set(try rows.map { try $0.decode(Int64.self) })
        }
    }
}

import EventTypes
import Postgres
import Testing
import TestSupport

extension EndToEnd {
    /// A complete store that was restored from a physical backup, as described in
    /// `deploy/README.md`.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct Backups {
        /// A client may hold a signed receipt of a purchase that is missing in the restored books.
        ///
        /// The test loses more purchases than the 32 values by which a sequence is ahead in the
        /// write-ahead log. A plain sequence would therefore repeat its numbers.
        @Test func nothingBoughtAfterARestoreHasTheIDOfALostPurchase() async throws {
            try await withStore(.with(database: .own)) { store in
                try await store.importSampleCatalog()
                let kept = try await store.buy(as: "kept")
                try await store.expectWhole([kept])
                try store.cluster.backUp(as: "backup")
                let lost = try await store.buy(from: "lost", count: 60)
                try await store.expectWhole([kept] + lost)
                let lostApps = try await store.appTransactions()
                #expect(lostApps.count == 61)

                for process in store.processes { await process.kill() }
                try await store.cluster.restore(from: "backup")
                try await store.broker.restart()
                for process in store.processes { try await process.start() }
                try await store.waitUntilReady()

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
    }
}

extension StoreHarness {
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

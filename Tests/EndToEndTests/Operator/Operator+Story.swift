import EventTypes
import Foundation
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.Operator {
    @Test(.onlySandbox("It breaks the sandbox's books."))
    func aPurchaseTellsItsStoryAndBooksThatAreBrokenAreFound() async throws {
        try await withStore { store in
            try await store.importSampleCatalog()
            let coins = try await store.buy(as: "ada")
            let pro = try await store.buy(SampleCatalog.pro, as: "ada")
            let declined = try await store.buy(by: .decline, as: "ada")
            let deferred = try await store.buy(by: .needsApproval, as: "ada")
            try await store.finish([coins, pro])

            try await store.tellsStories(of: coins, declined: declined, deferred: deferred)
            try await eventually(every: .milliseconds(200), "all books to agree") {
                let answer = try await store.counterfoil("reconcile", "--settled", "0")
                return answer.exit == .code(0) ? true : nil
            }
            let report = try await store.json(
                "reconcile",
                "--settled",
                "0",
                "--since",
                "1h",
                "--json"
            )
            #expect(report["compared"] as? Int == 4)
            for book in ["purchased", "processor", "postings", "receipts", "deliveries"] {
                #expect((report[book] as? [String: Any])?["count"] as? Int == 2, "\(book)")
            }
            // All events are recent.
            let young = try await store.json("reconcile", "--json")
            #expect(young["onTheirWay"] as? Int == 4 && young["compared"] as? Int == 0)
            try await store.findsWhatIsBroken(coins, pro)
        }
    }
}

extension StoreHarness {
    fileprivate func tellsStories(
        of coins: AcceptedPayment,
        declined: AcceptedPayment,
        deferred: AcceptedPayment
    ) async throws {
        let story = try await eventually("nothing to be left to do") {
            let story = try await json("why", "\(coins.transactionID)", "--json")
            return (story["waitsFor"] as? [String]) == [] ? story : nil
        }
        let steps = try #require(story["steps"] as? [[String: Any]])
        let kinds = Set(steps.compactMap { $0["kind"] as? String })
        #expect(
            kinds.isSuperset(of: [
                "state", "charge", "posting", "event", "receipt", "credit", "finish",
            ])
        )
        let times = steps.compactMap { $0["time"] as? Int }
        #expect(times == times.sorted() && times.count == steps.count)
        let texts = steps.compactMap { $0["text"] as? String }
        #expect(texts.contains { $0 == "event transaction.purchased.v1, done by receipts" })
        #expect(texts.contains { $0 == "event receipt.issued.v1, done by fulfillment" })

        let order = try #require(story["orderID"] as? String)
        let byOrder = try await counterfoil("why", order)
        #expect(byOrder.exit == .code(0))
        #expect(byOrder.output.contains("Transaction \(coins.transactionID), order \(order)"))
        #expect(byOrder.output.contains("Nothing is left to do."))
        #expect(byOrder.output.split(separator: "\n").count <= 30, "\(byOrder.output)")

        let account = try await counterfoil("why", "ada")
        #expect(account.output.contains("\(deferred.transactionID)"))
        let failed = try await counterfoil("why", "\(declined.transactionID)")
        #expect(failed.output.contains("declined 0.99 USD"))
        let waiting = try await counterfoil("why", "\(deferred.transactionID)")
        #expect(waiting.output.contains("counterfoil approve \(deferred.transactionID)"))
        for unknown in ["99", "W000YGJ16", "nobody"] {
            #expect(try await counterfoil("why", unknown).exit == .code(1))
        }
        #expect(try await counterfoil("why", "a b").exit == .code(64))
    }

    fileprivate func findsWhatIsBroken(
        _ coins: AcceptedPayment,
        _ pro: AcceptedPayment
    ) async throws {
        let (first, second) = (coins.transactionID.number, pro.transactionID.number)
        try await withDatabase(of: .receipts) { connection in
            _ = try connection.execute(
                "DELETE FROM signed_transactions WHERE transaction_id = \(first)"
            )
        }
        try await withDatabase(of: .payments) { connection in
            _ = try connection.execute(
                "UPDATE transactions SET price = price + 1 WHERE id = \(second)"
            )
            _ = try connection.execute(
                """
                INSERT INTO sandbox_processor.charges
                    (idempotency_key, payment_method, amount, currency)
                VALUES (gen_random_uuid(), 'sandbox_success', 777, 'USD')
                """
            )
        }
        try await withDatabase(of: .fulfillment) { connection in
            _ = try connection.execute(
                """
                INSERT INTO queue_transactions SELECT 77, account_id, bundle_id, version, state,
                    revoked_at, transaction, is_delivered, finished_at, revision, changed_at
                FROM queue_transactions WHERE transaction_id = \(first)
                """
            )
        }
        let answer = try await counterfoil("reconcile", "--settled", "0")
        #expect(answer.exit == .code(1))
        for line in [
            "1 purchased, and without a receipt", "2 amounts that differ",
            "1 on the processor's list, and nobody's payment", "7.77 USD",
            "1 in the queue, and unknown to payments", "77 ",
            "1 without the event that reports it", "6 differences.",
        ] {
            #expect(answer.output.contains(line), "\(line)\n\(answer)")
        }
    }
}

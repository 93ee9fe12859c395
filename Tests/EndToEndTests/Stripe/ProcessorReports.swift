import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

extension EndToEnd {
    /// Reports of a processor that the store does not expect: they are counted and named.
    @Suite
    struct ProcessorReports {
        private static let secret = "whsec_abcdefgh1234"

        @Test func eventsOfAnotherStoreCountAndThoseOfTheOtherModeDoNot() async throws {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("reports-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // A folder that stays behind does no harm.
            defer { try? FileManager.default.removeItem(at: folder) }
            let settings = try Self.settings(in: folder)
            try await withStore(.with(settings: [.payments: settings])) { store in
                // A sandbox's webhook is of test mode. The attempt is one that nobody here has.
                try await store.hear(of: "pi_live", isLive: true, signedWith: Self.secret)
                try await store.hear(of: "pi_test", isLive: false, signedWith: Self.secret)
                let payments = store.process(.payments)
                // Events are looked at in the order in which they came.
                try await eventually("the second event to be looked at") {
                    payments.log().contains("pi_test") ? true : nil
                }
                #expect(try await store.counts("processor_events_unknown", 1))
                #expect(!payments.log().contains("pi_live"))
                #expect(
                    payments.log().contains(
                        "Stripe tells of an attempt that this store does not have"
                    )
                )
            }
        }

        @Test(.onlySandbox("It changes the sandbox's books."))
        func whatTheProcessorAndTheBooksDisagreeAboutIsCounted() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                #expect(try await store.counts("processor_contradictions", 0))
                #expect(try await store.counts("processor_disputes", 0))
                // The bank takes back more than the buyer has paid.
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        "UPDATE sandbox_processor.charges SET amount = amount + 1"
                    )
                }
                let id = payment.transactionID.rawValue
                let dispute = try await store.counterfoil("test", "dispute", id)
                #expect(dispute.exit == .code(0), "\(dispute.output)")
                #expect(try await store.counts("processor_contradictions", 1))
                #expect(try await store.counts("processor_disputes", 1))
                let log = store.process(.payments).log()
                #expect(log.contains("was not refunded yet"))
            }
        }

        @Test(.onlySandbox("With Stripe the store reads its list and its balance."))
        func whatMovedAndIsNotPostedIsNamedAndSoIsAnOldList() async throws {
            try await withStore { store in
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO processor_movements (
                            movement_id, kind, amount, fee, currency, moved_at, read_at)
                        VALUES ('txn_1', 'stripe_fee', -5, 0, 'usd', now(), now()),
                            ('txn_2', 'stripe_fee', 0, 0, 'usd', now(), now())
                        """
                    )
                    _ = try connection.execute(
                        """
                        INSERT INTO processor_movement_places (read_until, due_at)
                        VALUES (now() - interval '25 hours', now())
                        """
                    )
                }
                // Nothing has to be posted for a movement of nothing.
                let report = try await store.reconcile()
                #expect(report.balanceNote?.contains("is not compared with the ledger yet") == true)
                let found = report.differences.map { "\($0.kind) \($0.subject ?? "-")" }
                #expect(found.sorted() == ["listNotRead processor", "movementNotPosted txn_1"])
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        """
                        UPDATE processor_movement_places
                        SET read_until = now() - interval '23 hours'
                        """
                    )
                }
                #expect(
                    try await store.reconcile().differences.map(\.kind) == ["movementNotPosted"]
                )
            }
        }

        @Test(.onlySandbox("With Stripe the store reads its list and its balance."))
        func aBalanceThatWasNotReadForADayIsSaid() async throws {
            try await withStore { store in
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO processor_movement_places (read_until, due_at)
                        VALUES (now(), now() + interval '1 hour')
                        """
                    )
                    _ = try connection.execute(
                        """
                        INSERT INTO processor_balances (
                            currency, amount, opening, movement_number, read_at)
                        VALUES ('USD', 0, 0, 0, now() - interval '25 hours')
                        """
                    )
                }
                let old = try await store.reconcile()
                #expect(old.balanceNote?.contains("is compared as it was at") == true)
                #expect(old.differences.isEmpty)
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        "UPDATE processor_balances SET read_at = now() - interval '23 hours'"
                    )
                }
                #expect(try await store.reconcile().balanceNote == nil)
            }
        }

        @Test(.onlySandbox("With Stripe the store reads its list and its balance."))
        func aBalanceThatTheLedgerDoesNotHaveIsNamed() async throws {
            try await withStore { store in
                func change(_ sql: String) async throws {
                    try await store.withDatabase(of: .payments) { connection in
                        _ = try connection.execute("\(unsafe: sql)")
                    }
                }
                func differences() async throws -> [String] {
                    try await store.reconcile().differences.map {
                        "\($0.kind) \($0.subject ?? "-")"
                    }
                }
                try await change(
                    """
                    INSERT INTO processor_balances (
                        currency, amount, opening, movement_number, read_at)
                    VALUES ('USD', 700, 200, 1, now())
                    """
                )
                #expect(try await differences() == ["balanceDiffers USD"])
                // The second one is newer than the balance.
                for (number, amount) in [(1, 500), (2, 40)] {
                    try await change(
                        """
                        INSERT INTO ledger_postings (
                            transaction_id, kind, number, id, posted_at, currency, accounts,
                            amounts)
                        VALUES (0, 'processor_movement', \(number), gen_random_uuid(), now(), 'USD',
                            '{processor_balance,processor_payments}',
                            '{\(amount),\(-amount)}')
                        """
                    )
                }
                #expect(try await differences() == [])
            }
        }

        @Test func anEventIsTakenOnlyAtTheAddressOfItsAccount() async throws {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("reports-\(UUID().uuidString)")
            let files = folder.appendingPathComponent("games")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            // A folder that stays behind does no harm.
            defer { try? FileManager.default.removeItem(at: folder) }
            let other = "whsec_ijklmnop5678"
            try Data("rk_test_ijklmnop2".utf8).write(to: files.appendingPathComponent("key"))
            try Data(other.utf8).write(to: files.appendingPathComponent("webhook-secrets"))
            var settings = try Self.settings(in: folder)
            settings["STRIPE_ACCOUNTS"] = "games"
            settings["STRIPE_ACCOUNTS_DIRECTORY"] = folder.path
            settings["STRIPE_APPS"] = "com.example.chess=games"
            try await withStore(.with(settings: [.payments: settings])) { store in
                let (first, games) = (Routes.stripeEvents, Routes.stripeAccountEvents("games"))
                for (path, secret, status) in [
                    (first, other, 400), (games, Self.secret, 400), (first, Self.secret, 204),
                    (games, other, 204),
                ] {
                    let answer = try await store.sendEvent(
                        of: "pi_test",
                        isLive: false,
                        signedWith: secret,
                        to: path
                    )
                    #expect(answer.status == status, "\(path): \(answer.text)")
                }
                // It is the same id at both accounts, and another event.
                try await eventually("both events to be looked at") {
                    try await store.counts("processor_events_unknown", 2) ? true : nil
                }
            }
        }

        @Test(.onlySandbox("With Stripe the store reads its list and its balance."))
        func eachAccountIsComparedWithItsOwnMovements() async throws {
            try await withStore { store in
                // Both have a cent too much or too little, and their sum has neither.
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO processor_movements (processor_account, movement_id, kind,
                            amount, fee, currency, moved_at, read_at)
                        VALUES ('default', 'txn_1', 'stripe_fee', 500, 0, 'usd', now(), now()),
                            ('games', 'txn_2', 'stripe_fee', 40, 0, 'usd', now(), now())
                        """
                    )
                    _ = try connection.execute(
                        """
                        INSERT INTO ledger_postings (
                            transaction_id, kind, number, id, posted_at, currency, accounts,
                            amounts)
                        SELECT 0, 'processor_movement', number, gen_random_uuid(), now(), 'USD',
                            '{processor_balance,processor_fees}', ARRAY[amount, -amount]
                        FROM processor_movements
                        """
                    )
                    _ = try connection.execute(
                        """
                        INSERT INTO processor_balances (processor_account, currency, amount,
                            opening, movement_number, read_at)
                        VALUES ('default', 'USD', 501, 0, 2, now()),
                            ('games', 'USD', 39, 0, 2, now())
                        """
                    )
                }
                let found = try await store.reconcile().differences
                #expect(found.map(\.kind) == ["balanceDiffers", "balanceDiffers"])
                #expect(found.filter { $0.detail.contains(", account games") }.count == 1)
            }
        }

        /// The settings of a store with Stripe, where nothing answers at Stripe's address.
        private static func settings(in folder: URL) throws -> [String: String] {
            let (key, secrets) = (
                folder.appendingPathComponent("key"), folder.appendingPathComponent("secrets")
            )
            try Data("rk_test_abcdefgh1".utf8).write(to: key)
            try Data(secret.utf8).write(to: secrets)
            return [
                "PROCESSOR": "stripe", "STRIPE_KEY_FILE": key.path,
                "STRIPE_WEBHOOK_SECRETS_FILE": secrets.path,
                "STRIPE_API_URL": "http://127.0.0.1:\(try freePort())",
                "STRIPE_RETURN_URL": "https://app.example.com/back", "STRIPE_TIMEOUT_MS": "3000",
                "PROCESSOR_LEASE_MS": "6000",
            ]
        }
    }
}

extension StoreHarness {
    /// Sends `payments` an event as Stripe does, about an attempt that it does not have.
    fileprivate func hear(
        of payment: String,
        isLive: Bool,
        signedWith secret: String
    ) async throws {
        let answer = try await sendEvent(of: payment, isLive: isLive, signedWith: secret)
        #expect(answer.status == 204, "\(answer.text)")
    }

    /// Sends `payments` such an event, and returns its answer.
    fileprivate func sendEvent(
        of payment: String,
        isLive: Bool,
        signedWith secret: String,
        to path: String = Routes.stripeEvents
    ) async throws -> StoreResponse {
        let seconds = Int64(Date().timeIntervalSince1970)
        let body = """
            {"id": "evt_\(payment)", "type": "payment_intent.succeeded", "created": \(seconds), \
            "livemode": \(isLive), "data": {"object": {"id": "\(payment)", "object": "payment_intent", \
            "metadata": {"attempt": "\(UUID().uuidString.lowercased())", \
            "transaction": "\(TransactionID(number: 9).rawValue)"}}}}
            """
        let signature = WebhookSender.signature(of: body, at: seconds, secrets: [secret])
        return try await StoreHTTP.send(
            .POST,
            urls.payments + path,
            headers: [("stripe-signature", signature)],
            body: Array(body.utf8)
        )
    }

    /// Whether a counter of `payments` has a value; one that was never raised may be missing.
    fileprivate func counts(_ metric: String, _ value: Int) async throws -> Bool {
        let text = try await StoreHTTP.send(.GET, process(.payments).url + "/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(metric)_total ") }
        return line.map { $0 == "\(metric)_total \(value)" } ?? (value == 0)
    }
}

import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd {
    /// The proof: it rebuilds the books from the log and reports every row that differs.
    @Suite
    struct Verification {
        @Test(.onlySandbox("No card waits for approval or is interrupted."))
        func everyTableIsMadeAgainAndEveryAlteredRowIsFound() async throws {
            try await withStore { store in
                try await store.makeHistory()
                let clean = try await store.verify()
                #expect(clean.exit == .code(0), "\(clean.output)")
                #expect(clean.output.contains("0 differences in"), "\(clean.output)")
                let first = "\(try await store.firstTransaction())"
                for tampering in Tampering.all {
                    // Each statement must change a row, or the test would not cover its table.
                    #expect(try await store.alter(tampering) == 1, "\(tampering)")
                }
                let found = try await store.verify()
                #expect(found.exit == .code(1), "\(found.output)")
                let lines = found.output.split(separator: "\n")
                for tampering in Tampering.all {
                    let finding = tampering.finding.replacing("FIRST", with: first)
                    #expect(
                        lines.contains {
                            $0.hasPrefix("  \(tampering.table) ")
                                && (finding.isEmpty || $0.contains(finding))
                        },
                        "\(tampering): \(found.output)"
                    )
                }
                let count = Tampering.all.count
                #expect(found.output.contains("\n\(count) differences in"), "\(found.output)")
            }
        }

        @Test func anAlteredEventIsFound() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let altered = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        UPDATE outbox SET data = convert_to(
                            replace(unpacked_json(data), ':99', ':1'), 'UTF8'
                        )
                        WHERE type = 'transaction.purchased.v1'
                        """
                    )
                }
                #expect(altered == 1)
                let found = try await store.verify(["payments"])
                #expect(found.exit == .code(1), "\(found.output)")
                #expect(
                    found.output.contains("the rules do not make it of version 1"),
                    "\(found.output)"
                )
            }
        }

        @Test func anEventThatCannotBeReadIsNamedAndTheRestIsCompared() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                try await store.expectWhole([try await store.buy()])
                for (service, type, finding) in [
                    (StoreService.catalog, "product.changed.v1", "is not in the log"),
                    (.payments, "transaction.purchased.v1", "state is 'purchased'"),
                    (.receipts, "receipt.issued.v1", "is not in the log"),
                    (.fulfillment, "transaction.finished.v1", "finished_at is "),
                ] {
                    let altered = try await store.withDatabase(of: service) { connection in
                        try connection.execute(
                            """
                            UPDATE outbox SET data = '{"product": 1, "transaction": 1}'
                            WHERE position = (
                                SELECT max(position) FROM outbox WHERE type = \(type)
                            )
                            """
                        )
                    }
                    #expect(altered == 1)
                    let found = try await store.verify([service.rawValue])
                    #expect(found.exit == .code(1), "\(found.output)")
                    #expect(
                        found.output.contains("\(type) of ")
                            && found.output.contains("its data is not what its type says")
                            && found.output.contains(finding),
                        "\(found.output)"
                    )
                }
            }
        }

        @Test func aRebuildThatSaysSomethingElseProvesNothing() async throws {
            try await withStore { store in
                let folder = store.directory + "/another-version"
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                let path = folder + "/catalog"
                let lines = """
                    #!/bin/sh
                    echo '{"difference":{"of":"a newer form"}}'
                    echo '{"done":{"events":0,"contradictions":0,"applyingMilliseconds":0,\
                    "milliseconds":0}}'
                    """
                try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o755],
                    ofItemAtPath: path
                )
                let answer = try await store.counterfoil(
                    "replay",
                    "--verify",
                    "--service",
                    "catalog",
                    "--services-directory",
                    folder
                )
                #expect(answer.exit == .code(1), "\(answer)")
                #expect(answer.output.contains("does not understand"), "\(answer)")
            }
        }

        @Test func itHoldsWhileTrafficFlows() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let isOver = Mutex(false)
                async let buying = {
                    var payments: [AcceptedPayment] = []
                    while !isOver.withLock({ $0 }) {
                        payments.append(try await store.buy(as: "buyer-\(payments.count % 7)"))
                        try await store.finish(payments.suffix(1))
                    }
                    return payments
                }()
                for _ in 1...3 {
                    let proof = try await store.verify()
                    #expect(proof.exit == .code(0), "\(proof.output)")
                }
                isOver.withLock { $0 = true }
                #expect(try await buying.count > 1)
            }
        }

        @Test func onlyOneProofIsMadeAtATimeAndTheOtherSaysWhoMakesIt() async throws {
            try await withStore { store in
                let key: Int64 = 0x73_6861_646F_77
                let settings = PostgresSettings(
                    url: store.shadowDatabaseURL,
                    applicationName: "another-proof"
                )
                let refused = try await withSession(settings) { session in
                    try await session.execute("SELECT pg_advisory_lock(\(key))")
                    return try await store.counterfoil(
                        "replay",
                        "--verify",
                        "--service",
                        "catalog"
                    )
                }
                #expect(refused.exit == .code(1), "\(refused.output)")
                #expect(refused.output.contains("Another proof is under way"), "\(refused.output)")
            }
        }
    }
}

extension StoreHarness {
    /// Rebuilds the books of services, and compares them.
    func verify(_ services: [String] = []) async throws -> ProgramAnswer {
        try await verify(with: services.flatMap { ["--service", $0] })
    }

    /// Makes a proof, after those of the other stores on the tests' server.
    func verify(with arguments: [String]) async throws -> ProgramAnswer {
        try await eventually(
            within: .seconds(300),
            every: .milliseconds(200),
            "the proofs of other stores to end"
        ) {
            let answer = try await counterfoil(["replay", "--verify"] + arguments)
            return answer.output.contains("Another proof is under way") ? nil : answer
        }
    }

    /// Alters one row as the owner of the tables.
    ///
    /// No other role can do this.
    ///
    /// - Returns: The number of altered rows.
    func alter(_ tampering: Tampering) async throws -> Int {
        try await withDatabase(of: tampering.service) { connection in
            try connection.execute("SET counterfoil.migrating = 'on'")
            return try connection.execute(
                """
                UPDATE \(unsafe: tampering.table) SET \(unsafe: tampering.change)
                WHERE ctid = (
                    SELECT ctid FROM \(unsafe: tampering.table) AS victim
                    WHERE \(unsafe: tampering.rows) ORDER BY victim::text COLLATE "C" LIMIT 1
                )
                """
            )
        }
    }

    /// Buys, restores, refunds and sends requests until every table has rows.
    func makeHistory() async throws {
        try await importSampleCatalog()
        let merchant = try await WebhookReceiver.start()
        _ = try await administrator.put(
            SampleCatalog.gift(deliveredTo: merchant.url),
            as: SampleCatalog.gift
        )
        try await waitUntilSellable(SampleCatalog.gift)
        let client = try client(account: "ada")
        var payments = [
            try await buy(), try await buy(SampleCatalog.pro), try await buy(SampleCatalog.gift),
            try await buy(by: .flaky, as: "bob"),
        ]
        let interrupted = try await buy(by: .interrupted)
        try await client.wait(for: interrupted.transactionID, toBe: .failed)
        let resumed = try await administrator.resume(interrupted.transactionID).value.transaction
        payments.append(
            AcceptedPayment(
                transactionID: resumed.id,
                account: resumed.accountID,
                paymentMethod: SandboxPaymentMethod.success.rawValue
            )
        )
        let approved = try await buy(by: .needsApproval)
        let declined = try await buy(by: .needsApproval)
        for payment in [approved, declined] {
            try await client.wait(for: payment.transactionID, toBe: .deferred)
        }
        let reason = ActReason(rawValue: "asked by phone: ☎")
        _ = try await administrator.decide(.approve, on: approved.transactionID, because: reason)
        _ = try await administrator.decide(.decline, on: declined.transactionID, because: reason)
        payments.append(approved)
        try await finish(payments)
        // The product is bought again while it is owned, and restored. A server sets the account
        // token.
        try await finish([buy(SampleCatalog.pro)])
        _ = try await client.restore()
        let account = AccountID(unchecked: "ada")
        // One promoted purchase is declined, and another one stays open.
        for key in ["first", "second"] {
            let intent = try await administrator.begin(
                PurchaseIntentRequest(
                    bundleID: StoreKeys.bundleID,
                    productID: SampleCatalog.coins
                ),
                for: account,
                key: key
            ).value.purchaseIntent
            if key == "first" { _ = try await client.decline(intent.id) }
        }
        try await addSubscription()
        try await finish([buy(SampleCatalog.club)])
        // The merchant's server sets the account token of a purchase.
        let named = try await StoreHTTP.send(
            .PUT,
            urls.receipts + "/inApps/v1/transactions/\(payments[0].transactionID)/appAccountToken",
            headers: [
                ("authorization", "Bearer \(try keys.serverToken())"),
                ("content-type", "application/json"),
            ],
            body: Array(#"{"appAccountToken":"7e3fb204-2b43-4f2f-8f0e-2f2a0d6b8e3c"}"#.utf8)
        )
        #expect(named.status == 200)
        _ = try await administrator.refund(payments[4].transactionID)
        // The proof is valid at any time, but the tables that will be altered need their rows.
        try await eventually("the finishes and the refund to arrive") {
            let books = try await agreedBooks()
            let finished = books.count(where: \.isFinishedInReceipts)
            let revoked = books.flatMap { $0.queued?.credits ?? [] }.count { $0.kind == "revoke" }
            return finished > payments.count && revoked == 1 ? true : nil
        }
        await merchant.stop()
    }
}

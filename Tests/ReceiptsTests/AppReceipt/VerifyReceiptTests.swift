import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import ReceiptValidation
import StoreAPI
import Testing

@testable import Receipts

/// `verifyReceipt` over HTTP: its statuses and the content of its answer (spec section 2.5).
@Suite(.timeLimit(.minutes(10))) struct VerifyReceiptTests {
    private let chain: SigningChain
    private let keys: TokenKeys

    init() throws {
        chain = try TestChain().signingChain()
        keys = try TokenKeys()
    }

    private static func body(
        _ receipt: [UInt8],
        _ further: [String: any Sendable] = [:]
    ) throws -> String {
        var body: [String: Any] = ["receipt-data": Data(receipt).base64EncodedString()]
        body.merge(further) { $1 }
        return String(
            decoding: try JSONSerialization.data(withJSONObject: body, options: .sortedKeys),
            as: UTF8.self
        )
    }

    /// Posts a body, like clients that send no content type.
    private func post(
        _ body: String,
        to store: AppReceiptsUnderTest,
        secrets: SharedSecrets = SharedSecrets()
    ) async throws -> [String: Any] {
        nonisolated(unsafe) var answer: [String: Any] = [:]  // Set before `execute` returns.
        try await store.withHTTP(keys: keys, secrets: secrets) { http in
            try await http.execute(
                uri: Routes.verifyReceipt,
                method: .post,
                headers: [.contentType: "application/x-www-form-urlencoded"],
                body: ByteBuffer(string: body)
            ) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "application/json")
                let object = try JSONSerialization.jsonObject(
                    with: Data(Array(buffer: response.body))
                )
                answer = try #require(object as? [String: Any])
            }
        }
        return answer
    }

    private func status(
        _ body: String,
        of store: AppReceiptsUnderTest,
        secrets: SharedSecrets = SharedSecrets()
    ) async throws -> Int? {
        let answer = try await post(body, to: store, secrets: secrets)
        if answer["status"] as? Int != 0 {
            #expect(answer.count == 1, "A refusal says its status and nothing else.")
        }
        return answer["status"] as? Int
    }

    @Test func aReceiptOfThisStoreIsRead() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1), purchased(2, type: .nonConsumable, quantity: 1))
            let receipt = try await store.receipt()
            try await store.buy(purchased(3, type: .nonConsumable, quantity: 1))
            let answer = try await post(try Self.body(receipt), to: store)
            #expect(answer["status"] as? Int == 0)
            #expect(answer["environment"] as? String == "Sandbox")

            let body = try #require(answer["receipt"] as? [String: Any])
            for (name, value) in [
                ("receipt_type", "ProductionSandbox"), ("bundle_id", "com.example.app"),
                ("application_version", "1.0"), ("original_application_version", "1.0"),
                ("receipt_creation_date", "2026-11-21 02:00:00 Etc/GMT"),
                ("receipt_creation_date_ms", "1795226400000"),
                ("receipt_creation_date_pst", "2026-11-20 18:00:00 America/Los_Angeles"),
                ("request_date_ms", "1795226400000"),
                ("original_purchase_date", "2013-08-01 07:00:00 Etc/GMT"),
                ("original_purchase_date_ms", "1375340400000"),
                ("original_purchase_date_pst", "2013-08-01 00:00:00 America/Los_Angeles"),
            ] {
                #expect(body[name] as? String == value, "\(name)")
            }
            for name in ["adam_id", "app_item_id", "download_id", "version_external_identifier"] {
                #expect(body[name] as? Int == 0)
            }
            let inApp = try #require(body["in_app"] as? [[String: String]])
            #expect(inApp.map { $0["transaction_id"] } == ["1", "2"])
            #expect(
                inApp[0] == [
                    "quantity": "3", "product_id": "coins.100", "transaction_id": "1",
                    "original_transaction_id": "1", "is_trial_period": "false",
                    "in_app_ownership_type": "PURCHASED",
                    "purchase_date": "2026-11-21 01:59:55 Etc/GMT",
                    "purchase_date_ms": "1795226395000",
                    "purchase_date_pst": "2026-11-20 17:59:55 America/Los_Angeles",
                    "original_purchase_date": "2026-11-21 01:59:55 Etc/GMT",
                    "original_purchase_date_ms": "1795226395000",
                    "original_purchase_date_pst": "2026-11-20 17:59:55 America/Los_Angeles",
                ]
            )
            // Later purchases are in the latest receipt, the newest first.
            let latest = try #require(answer["latest_receipt_info"] as? [[String: String]])
            #expect(latest.map { $0["transaction_id"] } == ["3", "2", "1"])
            #expect(latest[2] == inApp[0])
            let text = try #require(answer["latest_receipt"] as? String)
            let newest = try store.validator().appReceipt(try #require(Data(base64Encoded: text)))
            #expect(newest.purchases.map(\.transactionID) == ["1", "2", "3"])
        }
    }

    @Test func theServerShowsARefundThatCameLater() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .nonConsumable))
            let receipt = try await store.receipt()
            let refunded = purchased(1, version: 3, type: .nonConsumable, revokedAt: TestChain.now)
            try await store.events.apply([try .of(.transactionRefunded, refunded)])
            let answer = try await post(try Self.body(receipt), to: store)
            let latest = try #require(answer["latest_receipt_info"] as? [[String: String]])
            #expect(latest[0]["cancellation_date_ms"] == "1795226400000")
            #expect(latest[0]["cancellation_reason"] == "0")
        }
    }

    @Test func aReceiptWithoutPurchasesIsValid() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            let answer = try await post(try Self.body(try await store.receipt()), to: store)
            #expect(answer["status"] as? Int == 0)
            let receipt = try #require(answer["receipt"] as? [String: Any])
            #expect((receipt["in_app"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func whatIsNoPOSTOrNoJSONIsUnreadable() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            for body in [
                "", "{", "receipt-data=AAAA", "[]", "\"text\"", "7",
                String(repeating: "[", count: 100_000),
                "{\"receipt-data\":\(String(repeating: "{\"a\":", count: 10_000))",
            ] {
                #expect(try await status(body, of: store) == 21000, "\(body.prefix(20))")
            }
            try await store.withHTTP(keys: keys) { http in
                for method in [HTTPRequest.Method.get, .put, .delete, .patch] {
                    try await http.execute(uri: Routes.verifyReceipt, method: method) { response in
                        #expect(response.status == .ok)
                        #expect(String(buffer: response.body) == "{\"status\":21000}")
                    }
                }
            }
        }
    }

    @Test func whatIsNoReceiptIsMalformed() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            let bytes = try await store.receipt()
            let receipt = Data(bytes).base64EncodedString()
            let url = StrictBase64.text(bytes)
            for body in [
                "{}", "{\"receipt-data\":null}", "{\"receipt-data\":\"\"}",
                "{\"receipt-data\":7}", "{\"receipt-data\":\"AAAA\"}",
                "{\"receipt-data\":\"\(receipt)=\"}", "{\"receipt-data\":\" \(receipt)\"}",
                "{\"receipt-data\":\"\(receipt.dropLast(8))\"}", "{\"receipt-data\":\"\(url)\"}",
                "{\"receipt-data\":\"\(receipt)\",\"password\":7}",
                "{\"receipt-data\":\"\(receipt)\",\"exclude-old-transactions\":\"yes\"}",
                "{\"receipt-data\":\"a.b.c\"}",
            ] where body != "{\"receipt-data\":\"\(receipt)\"}" {
                #expect(try await status(body, of: store) == 21002, "\(body.suffix(40))")
            }
            let lines = Data(try await store.receipt())
                .base64EncodedString(options: .lineLength64Characters)
                .replacingOccurrences(of: "\r\n", with: "\\r\\n")
            #expect(try await status("{\"receipt-data\":\"\(lines)\"}", of: store) == 0)
            for flag in ["true", "false", "1", "0", "\"true\"", "\"False\"", "\"\"", "null"] {
                let body =
                    "{\"receipt-data\":\"\(receipt)\",\"exclude-old-transactions\":\(flag)}"
                #expect(try await status(body, of: store) == 0, "\(flag)")
            }
        }
    }

    @Test func aReceiptOfAnotherStoreIsNotAuthenticated() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1))
            let other = try AppReceiptsUnderTest(
                store.events.client,
                chain: try TestChain().signingChain()
            )
            let receipt = try await other.receipt()
            #expect(try await status(try Self.body(receipt), of: store) == 21003)
        }
    }

    @Test(arguments: [true, false])
    func aReceiptOfTheOtherEnvironmentIsSentThere(_ isOfTheSameRoot: Bool) async throws {
        let otherChain = isOfTheSameRoot ? chain : try TestChain().signingChain()
        for (here, there, expected) in [
            (StoreEnvironment.production, StoreEnvironment.sandbox, 21007),
            (.sandbox, .production, 21008),
        ] {
            try await AppReceiptsUnderTest.with(chain: chain, environment: here) { store in
                try await store.buy(purchased(1))
                let other = try AppReceiptsUnderTest(
                    store.events.client,
                    chain: otherChain,
                    environment: there
                )
                let receipt = try await other.receipt()
                #expect(try await status(try Self.body(receipt), of: store) == expected)
            }
        }
    }

    @Test func theSharedSecretIsTheApps() async throws {
        var secrets = SharedSecrets()
        secrets.set("0123456789abcdef0123456789abcdef", of: "com.example.app")
        secrets.set("ffffffffffffffffffffffffffffffff", of: "com.other.app")
        let set = secrets
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1))
            let receipt = try await store.receipt()
            for (password, expected) in [
                ("0123456789abcdef0123456789abcdef", 0),
                ("0123456789abcdef0123456789abcdee", 21004),
                ("ffffffffffffffffffffffffffffffff", 21004), ("", 0),
            ] {
                let body = try Self.body(receipt, ["password": password])
                #expect(try await status(body, of: store, secrets: set) == expected)
            }
            // Without subscriptions no secret is needed. A server of an app without a secret sends
            // none.
            #expect(try await status(try Self.body(receipt), of: store, secrets: set) == 0)
            let body = try Self.body(receipt, ["password": "0123456789abcdef0123456789abcdef"])
            #expect(try await status(body, of: store) == 21004)
        }
        #expect("\(set)" == "SharedSecrets(2)")
        var dumped = ""
        dump(set, to: &dumped)
        #expect(!dumped.contains("0123456789abcdef"))
    }

    @Test func aSubscriptionAsksForTheSecretOfAnAppThatHasOne() async throws {
        var secrets = SharedSecrets()
        secrets.set("0123456789abcdef", of: "com.example.app")
        let set = secrets
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1, type: .autoRenewableSubscription))
            var entry = try #require(
                try await store.reader.entries(of: AppReceiptsUnderTest.alice).first
            )
            entry.expiresDate = TestChain.now
            let receipt = try store.reader.receipt(
                of: AppReceiptsUnderTest.alice,
                AppReceiptQuestion(),
                entries: [entry]
            )
            #expect(try await status(try Self.body(receipt), of: store, secrets: set) == 21004)
            #expect(try await status(try Self.body(receipt), of: store) == 0)
        }
    }

    @Test func whileTheDatabaseIsAwayItIsUnavailable() async throws {
        let store = try AppReceiptsUnderTest.withoutDatabase(chain: chain)
        let payload = try SignedTransactionPayload(
            purchased(1),
            environment: .sandbox,
            signedAt: TestChain.now
        ).encoded()
        let receipt = try store.reader.receipt(
            of: AppReceiptsUnderTest.alice,
            AppReceiptQuestion(),
            entries: [try AppReceiptEntry(payload: payload)]
        )
        #expect(try await status(try Self.body(receipt), of: store) == 21005)
    }

    @Test func aReceiptOfAnAccountThatIsGoneSaysSo() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1))
            let receipt = try await store.receipt()
            // The same store with a database that has none of the purchases.
            try await AppReceiptsUnderTest.with(chain: chain) { empty in
                let found = try await status(try Self.body(receipt), of: empty)
                #expect(found == 21010)
            }
        }
    }

    @Test func whatTheStoreCannotReadItselfIsItsOwnFailure() async throws {
        try await AppReceiptsUnderTest.with(chain: chain) { store in
            try await store.buy(purchased(1))
            let receipt = try await store.receipt()
            let statement = """
                UPDATE signed_transactions SET payload = '\\x00', revision = 9
                """
            try await store.events.client.withConnection { connection in
                _ = try connection.execute("\(unsafe: statement)")
            }
            #expect(try await status(try Self.body(receipt), of: store) == 21009)
        }
    }

    @Test func oldPeriodsAreLeftAwayWhereThatIsAskedFor() throws {
        func period(_ number: Int, of original: Int, _ type: String) throws -> AppReceiptEntry {
            try AppReceiptEntry(
                payload: Array(
                    """
                    {"transactionId":"\(number)","originalTransactionId":"\(original)",
                    "productId":"gold","quantity":1,"type":"\(type)","purchaseDate":\(number),
                    "originalPurchaseDate":\(original),"expiresDate":\(number + 1),
                    "webOrderLineItemId":"\(number)","subscriptionGroupIdentifier":"g",
                    "offerType":1,"offerDiscountType":"FREE_TRIAL","isUpgraded":true}
                    """.utf8
                )
            )
        }
        let subscription = "Auto-Renewable Subscription"
        let entries = [
            try period(1, of: 1, subscription), try period(2, of: 2, "Non-Consumable"),
            try period(3, of: 1, subscription), try period(4, of: 4, subscription),
            try period(5, of: 2, "Non-Consumable"),
        ]
        func ids(_ excludes: Bool) -> [String?] {
            VerifyReceiptAnswer.latest(entries, excludesOldTransactions: excludes)
                .map { $0["transaction_id"] }
        }
        #expect(ids(false) == ["5", "4", "3", "2", "1"])
        #expect(ids(true) == ["5", "4", "3", "2"])
        let latest = VerifyReceiptAnswer.latest(entries, excludesOldTransactions: false)
        // An upgrade cancels a period when the next one begins.
        #expect(latest.last?["cancellation_date_ms"] == "3")
        #expect(latest.last?["cancellation_reason"] == nil)
        let entry = VerifyReceiptAnswer.Entry(entries[0])
        for (name, value) in [
            ("expires_date_ms", "2"), ("is_trial_period", "true"),
            ("is_in_intro_offer_period", "false"), ("is_upgraded", "true"),
            ("subscription_group_identifier", "g"), ("web_order_line_item_id", "1"),
        ] {
            #expect(entry[name] == value, "\(name)")
        }
    }

    @Test func aBodyBeyondTheLimitIsNotRead() async throws {
        let store = try AppReceiptsUnderTest.withoutDatabase(chain: chain)
        try await store.withHTTP(keys: keys) { http in
            try await http.execute(
                uri: Routes.verifyReceipt,
                method: .post,
                body: ByteBuffer(repeating: 0x20, count: VerifyReceiptRequest.lengthMax + 1)
            ) { response in
                #expect(response.status == .contentTooLarge)
            }
        }
    }

    @Test func secretsAreReadFromFilesNamedByApps() throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "receipts-secrets-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer {
            // A directory left behind in the temporary directory does not affect later tests.
            try? FileManager.default.removeItem(at: directory)
        }
        for (name, secret) in [
            ("com.example.app", "0123456789abcdef\n"), ("com.short", "secret"),
            ("not a bundle", "0123456789abcdef"), (".hidden", "x"),
        ] {
            try Data(secret.utf8).write(to: directory.appending(path: name))
        }
        let (secrets, problems) = SharedSecrets.read(in: directory.path())
        #expect(secrets.isSecret("0123456789abcdef", of: "com.example.app"))
        #expect(!secrets.has("com.short"))
        #expect(problems.count == 2)
        #expect(problems.allSatisfy { !$0.contains("0123456789abcdef") && !$0.contains("secret,") })
        #expect(SharedSecrets.read(in: "/nowhere").problems.count == 1)
    }
}

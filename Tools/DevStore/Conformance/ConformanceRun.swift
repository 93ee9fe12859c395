import EventTypes
import Foundation
import StoreAPI
import StoreHarness

/// Makes the purchases that the conformance table needs, and runs its script.
struct ConformanceRun {
    /// The description of the store for the script; `Tests/Conformance/store.py` reads it.
    struct Description: Encodable {
        var receiptsURL: String
        var fulfillmentURL: String
        var paymentsURL: String
        var catalogURL: String
        var bundleID: BundleID
        var appAppleID: Int64
        var keysDirectory: String
        var counterfoil: String
        /// A key that the rows use, and one that only serves to exceed the limit of requests.
        var serverKey: String
        var busyKey: String
        var accountToken: String
        var administratorToken: String
        var orderID: String
        /// The transactions, by the names that the rows use.
        var transactions: [String: TransactionID]
        /// All transactions of one account, oldest first.
        var manyTransactions: [TransactionID]
    }

    private struct App: Decodable {
        var appAppleID: Int64
    }

    /// The number of transactions on more than two pages.
    private static let manyCount = 47
    private static let otherBundle = "com.example.other"

    private let store: StoreHarness
    private let counterfoil: String

    init(_ store: StoreHarness) async throws {
        self.store = store
        counterfoil = try BuiltExecutables.path("counterfoil")
    }

    /// Makes every purchase and key that the rows use.
    func prepare() async throws -> Description {
        let ada = try store.client(account: "ada")
        let pro = try await bought(SampleCatalog.pro, by: ada)
        try await ada.finishUntilDone(pro)
        var transactions = ["pro": pro]
        transactions["coins"] = try await bought(SampleCatalog.coins, by: ada)
        transactions["hint"] = try await bought(SampleCatalog.hint, by: ada)
        transactions["refunded"] = try await refunded(ada)
        transactions["parts"] = try await bought(SampleCatalog.coins, by: ada)
        transactions["restored"] = try await restored(ada)
        transactions["failed"] = try await failed(ada)
        transactions["undelivered"] = try await undelivered(ada)
        transactions["otherApp"] = try await bought(SampleCatalog.hint, by: try await otherApp())
        let grace = try store.client(account: "grace")
        var many: [TransactionID] = []
        for _ in 0..<Self.manyCount {
            many.append(try await bought(SampleCatalog.hint, by: grace))
        }
        try await operate(
            "keys",
            "server",
            "--directory",
            store.keys.directory,
            "--key-id",
            "busy",
            "--bundle",
            StoreKeys.bundleID.rawValue
        )
        let app = try JSONDecoder().decode(
            App.self,
            from: try Data(
                contentsOf: URL(
                    fileURLWithPath: "\(store.keys.apps)/\(StoreKeys.bundleID)/app.json"
                )
            )
        )
        return Description(
            receiptsURL: store.urls.receipts,
            fulfillmentURL: store.urls.fulfillment,
            paymentsURL: store.urls.payments,
            catalogURL: store.urls.catalog,
            bundleID: StoreKeys.bundleID,
            appAppleID: app.appAppleID,
            keysDirectory: store.keys.directory,
            counterfoil: counterfoil,
            serverKey: StoreKeys.bundleID.rawValue.replacing(".", with: "-") + "-"
                + StoreKeys.keyID,
            busyKey: "busy",
            accountToken: try store.keys.token(account: AccountID(unchecked: "ada")),
            administratorToken: try store.keys.administratorToken(),
            orderID: OrderID(pro).rawValue,
            transactions: transactions,
            manyTransactions: many
        )
    }

    /// Runs the script.
    ///
    /// - Returns: Whether every row had the expected result.
    func call(_ description: Description, only: String?) async throws -> Bool {
        let file = store.directory + "/conformance.json"
        try JSONEncoder().encode(description).write(to: URL(fileURLWithPath: file))
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: SourceTree.path("Tests/Conformance/run")
        )
        process.arguments = [file] + (only.map { ["--only", $0] } ?? [])
        try process.run()
        return await Task.detached {
            process.waitUntilExit()
            return process.terminationStatus == 0
        }.value
    }

    /// Makes a purchase, and waits for the receipt.
    private func bought(_ product: ProductID, by client: StoreClient) async throws
        -> TransactionID
    {
        let id = try await client.addUntilAnswered(.sample(product)).value.transaction.id
        return try await signed(id, of: client)
    }

    private func signed(_ id: TransactionID, of client: StoreClient) async throws -> TransactionID {
        try await eventually("the receipt of \(id)") {
            try await client.receipt(id).valueIfAny
        }
        return id
    }

    private func refunded(_ client: StoreClient) async throws -> TransactionID {
        let id = try await bought(SampleCatalog.coins, by: client)
        let before = try await client.receipt(id).value
        _ = try await store.administrator.refund(id).value
        try await eventually("the receipt of \(id) to be revoked") {
            try await client.receipt(id).value == before ? nil : true
        }
        return id
    }

    private func restored(_ client: StoreClient) async throws -> TransactionID {
        let restored = try await eventually("a restored transaction") {
            // Only finished transactions are restored, and payments learns of the finish a moment
            // later.
            try await client.restore().value.transactions.first?.id
        }
        return try await signed(restored, of: client)
    }

    private func failed(_ client: StoreClient) async throws -> TransactionID {
        let request = PaymentRequest.sample(SampleCatalog.hint, by: .decline)
        let id = try await client.addUntilAnswered(request).value.transaction.id
        try await client.wait(for: id, toBe: .failed)
        return id
    }

    /// Makes a purchase whose webhook stays unconfirmed, because the merchant's server does not
    /// answer.
    private func undelivered(_ client: StoreClient) async throws -> TransactionID {
        let response = try await store.administrator.put(
            SampleCatalog.gift(deliveredTo: "http://127.0.0.1:\(try freePort())/hook"),
            as: SampleCatalog.gift
        )
        guard (200..<300).contains(response.status) else { throw HarnessError(response.text) }
        try await store.waitUntilSellable(SampleCatalog.gift)
        return try await bought(SampleCatalog.gift, by: client)
    }

    /// Returns a client for a buyer in another app of the same store.
    private func otherApp() async throws -> StoreClient {
        try await operate(
            "keys",
            "create",
            "--directory",
            store.keys.directory,
            "--bundle",
            Self.otherBundle,
            "--key-id",
            StoreKeys.keyID,
            "--administrator",
            StoreKeys.administrator
        )
        let token = try await operate(
            "token",
            "account",
            "--keys",
            store.keys.directory,
            "--bundle",
            Self.otherBundle,
            "--account",
            "ada"
        )
        let client = StoreClient(
            account: AccountID(unchecked: "ada"),
            urls: store.urls,
            token: token.trimmingCharacters(in: .whitespacesAndNewlines)
        )
        // The services reread their directories of keys when they meet an unknown key.
        try await eventually("the services to know the other app") {
            let answers = [
                try await client.transaction(TransactionID(number: 1)).status,
                try await client.receipt(TransactionID(number: 1)).status,
            ]
            return answers.contains(401) ? nil : true
        }
        return client
    }

    @discardableResult
    private func operate(_ arguments: String...) async throws -> String {
        try await ChildProcess.run(counterfoil, arguments)
    }
}

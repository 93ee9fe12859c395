import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StoreHarness

/// Makes the purchases that the contracts' calls need, and runs the script.
struct ContractsRun {
    /// The duration, the seed and the service of the calls.
    struct Load {
        var seconds: Int
        var seed: Int
        var only: String?
    }

    /// The description of the store for the script; `Tests/Contracts/store.py` reads it.
    private struct Description: Encodable {
        var urls: [String: String]
        /// The tokens by the name of their security scheme.
        var tokens: [String: String]
        var bundleID: BundleID
        var transactions: [TransactionID]
        /// Transactions with a download; no call finishes them, because none knows their ids.
        var hosted: [TransactionID]
        var known: KnownObjects
        var eventsFile: String
    }

    /// An event as it was sent through the broker.
    private struct Event: Encodable {
        var topic: String
        var key: String
        var headers: [String: String]
        var data: String
    }

    let store: StoreHarness
    let terminal: Terminal

    /// Makes a transaction in every state, and the file that describes the store.
    ///
    /// - Returns: The path of the file.
    func prepare() async throws -> String {
        let clock = ContinuousClock()
        let begin = clock.now
        try await store.waitUntilSellable(SampleCatalog.club)
        let ada = try store.client(account: "ada")
        let pro = try await ada.addUntilAnswered(.sample(SampleCatalog.pro)).value.transaction.id
        try await ada.finishUntilDone(pro)
        var transactions = [pro]
        for method in [
            SandboxPaymentMethod.success, .decline, .needsApproval, .interrupted,
        ] {
            let request = PaymentRequest.sample(SampleCatalog.coins, by: method)
            transactions.append(try await ada.addUntilAnswered(request).value.transaction.id)
        }
        _ = try await store.administrator.begin(
            PurchaseIntentRequest(
                bundleID: StoreKeys.bundleID,
                productID: SampleCatalog.coins
            ),
            for: ada.account
        ).value
        _ = try await store.administrator.setNotificationEndpoint(
            to: "http://127.0.0.1:\(try freePort())/nobody"
        ).value
        let hosted = try await hosted(by: ada)
        let known = try await KnownObjects.make(in: store, by: ada)
        try await eventually("the receipt of \(pro)") {
            try await ada.receipt(pro).valueIfAny
        }
        let description = Description(
            urls: [
                "catalog": store.urls.catalog, "payments": store.urls.payments,
                "receipts": store.urls.receipts, "fulfillment": store.urls.fulfillment,
            ],
            tokens: [
                "accountToken": ada.token,
                "administratorToken": try store.keys.administratorToken(),
                "serverToken": try store.keys.serverToken(),
            ],
            bundleID: StoreKeys.bundleID,
            transactions: transactions + known.subscriptions + known.refundRequests,
            hosted: [hosted],
            known: known,
            eventsFile: store.directory + "/events.jsonl"
        )
        let file = store.directory + "/contracts.json"
        try JSONEncoder().encode(description).write(to: URL(fileURLWithPath: file))
        terminal.done("purchases for the calls to find", clock.now - begin)
        return file
    }

    /// Hosts content for a product and buys it.
    ///
    /// It can be downloaded until it is finished.
    private func hosted(by client: StoreClient) async throws -> TransactionID {
        let answer = try await store.administrator.raw(
            .PUT,
            store.urls.fulfillment + Routes.adminContent(SampleCatalog.hint) + "?version=0.1",
            body: Array("A hint: look behind the picture.".utf8)
        )
        guard answer.status == 201 else { throw HarnessError(answer.text) }
        let request = PaymentRequest.sample(SampleCatalog.hint)
        let id = try await client.addUntilAnswered(request).value.transaction.id
        let content = store.urls.fulfillment + Routes.content(SampleCatalog.hint, of: id)
        try await eventually("what is hosted for \(id)") {
            try await client.raw(.GET, content).status == 200 ? true : nil
        }
        return id
    }

    /// Runs every part of the script, even if an earlier part has found something.
    ///
    /// - Returns: Whether no part found anything.
    func check(
        _ description: String,
        _ load: Load,
        _ watcher: EventWatcher
    ) async throws -> Bool {
        terminal.heading("Documents")
        var isKept = try await run(description, "documents")
        terminal.heading("Calls")
        var arguments = ["--seconds", "\(load.seconds)", "--seed", "\(load.seed)"]
        if let only = load.only { arguments += ["--only", only] }
        isKept = try await run(description, "fuzz", arguments) && isKept
        terminal.heading("Events")
        await watcher.stop()
        try write(watcher.sightings)
        isKept = try await run(description, "events") && isKept
        return try await audit(watcher.sightings) && isKept
    }

    /// Checks that the books agree, and that consumers could apply every event, whatever was
    /// requested.
    private func audit(_ sightings: [EventWatcher.Sighting]) async throws -> Bool {
        // The calls keep no list of accepted payments, but there is an event for each.
        let types: [EventType] = [.transactionPurchasing, .transactionRestored]
        let accepted = sightings.filter { types.contains(EventType(rawValue: $0.type)) }
            .map {
                AcceptedPayment(
                    transactionID: TransactionID(unchecked: $0.subject),
                    account: AccountID(unchecked: $0.key)
                )
            }
        // The last purchases are still on their way.
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        var report = try await Auditor(store).audit(accepted: accepted, isFinished: false)
        while !report.isClean && ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(500))
            report = try await Auditor(store).audit(accepted: accepted, isFinished: false)
        }
        terminal.heading("Audit")
        terminal.show(report)
        return report.isClean
    }

    private func write(_ sightings: [EventWatcher.Sighting]) throws {
        let encoder = JSONEncoder()
        var lines = Data()
        for sighting in sightings {
            let event = Event(
                topic: sighting.topic,
                key: sighting.key,
                headers: sighting.headers,
                data: sighting.data
            )
            lines += try encoder.encode(event) + Data("\n".utf8)
        }
        try lines.write(to: URL(fileURLWithPath: store.directory + "/events.jsonl"))
    }

    private func run(
        _ description: String,
        _ part: String,
        _ arguments: [String] = []
    ) async throws -> Bool {
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: SourceTree.path("Tests/Contracts/run")
        )
        process.arguments = [description, part] + arguments
        try process.run()
        return await Task.detached {
            process.waitUntilExit()
            return process.terminationStatus == 0
        }.value
    }
}

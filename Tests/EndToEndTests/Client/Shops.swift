import EventTypes
import Foundation
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// The sample app as a separate process that is killed at every step of a purchase.
    @Suite
    struct Shops {
        /// A store behind proxies, and the sample app of one buyer.
        fileprivate struct Setup {
            let store: StoreHarness
            let payments: HTTPProxy
            let fulfillment: HTTPProxy
            let folder: String

            private func arguments(
                _ arguments: [String],
                language: String = "en-US",
                paying method: SandboxPaymentMethod = .success
            ) async throws -> [String] {
                let client = try store.client(account: "ada")
                let paying = try await client.payingMethod(like: method)
                return arguments + [
                    "--catalog", store.urls.catalog, "--payments", payments.url,
                    "--receipts", store.urls.receipts, "--fulfillment", fulfillment.url,
                    "--token", client.token, "--directory", folder,
                    "--language", language, "--root", store.keys.rootCertificate,
                    "--method", paying.rawValue,
                ]
            }

            /// Runs the app to its end.
            func shop(
                _ words: String...,
                language: String = "en-US",
                paying method: SandboxPaymentMethod = .success
            ) async throws -> String {
                try await ChildProcess.run(
                    try BuiltExecutables.path("shop"),
                    try await arguments(words, language: language, paying: method)
                )
            }

            /// Starts the app.
            func start(_ words: String...) async throws -> ChildProcess {
                try await ChildProcess.start(
                    try BuiltExecutables.path("shop"),
                    try await arguments(words),
                    environment: [:],
                    logPath: folder + "/shop.log"
                )
            }
        }

        private func withShop(_ body: (Setup) async throws -> Void) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let folder = NSTemporaryDirectory() + "counterfoil-shop-\(UUID().uuidString)"
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                // A file that cannot be removed does no harm.
                defer { try? FileManager.default.removeItem(atPath: folder) }
                let setup = Setup(
                    store: store,
                    payments: try await HTTPProxy.start(inFrontOf: store.urls.payments),
                    fulfillment: try await HTTPProxy.start(inFrontOf: store.urls.fulfillment),
                    folder: folder
                )
                try await body(setup)
                await setup.payments.cut()
                await setup.fulfillment.cut()
            }
        }

        @Test func itListsBuysRestoresAndRefreshesAsTheSampleDocumentDoes() async throws {
            try await withShop { setup in
                let list = try await setup.shop("list", language: "fr")
                #expect(list.contains("$0.99") || list.contains("0,99"))
                #expect(list.contains("com.example.discontinued: not sold here"))
                let buy = try await setup.shop("buy", "com.example.coins.100", "--quantity", "3")
                #expect(buy.contains("purchasing …"))
                #expect(buy.contains("paid; delivered"))
                #expect(buy.contains("finished"))
                _ = try await setup.shop("buy", "com.example.pro")
                #expect(try await setup.shop("coins") == "300 coins\n")
                #expect(try await setup.shop("owned").hasPrefix("com.example.pro "))
                let client = try setup.store.client(account: "ada")
                try await eventually("payments to know of the finish") {
                    try await client.restore().value.transactions.isEmpty ? nil : true
                }
                let restored = try await setup.shop("restore")
                #expect(restored.contains("restored; first bought as"))
                let receipt = try await setup.shop("receipt")
                #expect(receipt.contains("/receipt: "))
                #expect(receipt.contains("com.example.pro "))
                #expect(try await setup.shop("listen") == "0 unfinished\n")
            }
        }

        /// Spec rule 128.
        @Test func whatWasDeliveredIsKnownAtALaunchWithoutNetwork() async throws {
            try await withShop { setup in
                _ = try await setup.shop("buy", "com.example.pro")
                _ = try await setup.shop("buy", "com.example.coins.100")
                await setup.fulfillment.cut()
                let owned = try await setup.shop("owned")
                #expect(owned.hasPrefix("The store is out of reach."))
                #expect(owned.hasSuffix("\ncom.example.pro\n"))
                #expect(try await setup.shop("coins") == "100 coins\n")
            }
        }

        @Test(.onlySandbox("No card waits for approval or is called off."))
        func whatFailsExitsWithAFailureAndIsFinished() async throws {
            try await withShop { setup in
                for method in [SandboxPaymentMethod.decline, .cancelled] {
                    let error = await #expect(throws: HarnessError.self) {
                        try await setup.shop("buy", "com.example.hint", paying: method)
                    }
                    let text = error.map { "\($0)" } ?? ""
                    #expect(text.contains("paymentInvalid") == (method == .decline))
                    #expect(text.contains("finished"))
                }
                let unknown = await #expect(throws: HarnessError.self) {
                    try await setup.shop("buy", "com.example.nothing")
                }
                #expect(unknown.map { "\($0)" }?.contains("is not sold here") == true)
                let waiting = try await setup.shop(
                    "buy",
                    "com.example.hint",
                    paying: .needsApproval
                )
                #expect(waiting.contains("waits for approval"))
            }
        }

        @Test func killedInTheMiddleOfADownloadItGoesOnFromWhatIsThere() async throws {
            try await withShop { setup in
                let bytes = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 48_271 >> 5) }
                let content = try await setup.store.host(
                    bytes,
                    version: "1.0",
                    for: SampleCatalog.pro
                )
                let hold = setup.fulfillment.hold(at: .beforeResponse("/content/"), occurrence: 20)
                let shop = try await setup.start("buy", SampleCatalog.pro.rawValue)
                try await hold.reached()
                let part = "\(setup.folder)/downloads/\(content.sha256).part"
                try await eventually("some of the content to be there") {
                    try FileManager.default.attributesOfItem(atPath: part)[.size] as? Int ?? 0 > 0
                        ? true : nil
                }
                shop.send(SIGKILL)
                _ = await shop.exit()
                hold.release()
                let log = try await setup.shop("listen")
                #expect(log.contains("downloaded"))
                #expect(log.contains("finished"))
                let file = URL(fileURLWithPath: "\(setup.folder)/downloads/\(content.sha256)")
                #expect(try Data(contentsOf: file) == Data(bytes))
            }
        }

        @Test func aSubscriptionIsShownCancelledAndResumed() async throws {
            try await withShop { setup in
                try await setup.store.addSubscription()
                let club = SampleCatalog.club.rawValue
                let none = try await setup.shop("subscription")
                #expect(none == "no subscription; `shop buy` begins one\n")
                #expect(try await setup.shop("list").contains("Club, monthly"))
                _ = try await setup.shop("buy", club)
                let client = try setup.store.client(account: "ada")
                let end = try #require(try await client.entitlements().value.entitlements.first)
                let day = try #require(end.endsAt?.description.prefix(10))
                #expect(try await setup.shop("owned").contains(" until \(day)T"))
                let cancelled = try await setup.shop("subscription", "cancel")
                #expect(cancelled.hasPrefix("cancelled; owned until \(day)T"))
                try await eventually("receipts to know of it") {
                    let line = try await setup.shop("subscription")
                    return line.contains("owned until \(day)T") && line.hasSuffix("then nothing\n")
                        ? true : nil
                }
                _ = try await setup.shop("subscription", "resume")
                try await eventually("receipts to know of it") {
                    try await setup.shop("subscription").hasSuffix("then \(club)\n") ? true : nil
                }
            }
        }

        /// Each month in the club gives 50 coins.
        @Test(arguments: [
            Step.beforeTheStreamSaysAnything, .beforeTheFinishIsSent, .beforeTheFinishIsAnswered,
        ])
        func killedAtAnyStepItDeliversARenewalOnce(_ step: Step) async throws {
            try await withShop { setup in
                try await setup.store.addSubscription()
                let begun = try await setup.store.setClock(Routes.adminClockFreeze).now
                _ = try await setup.shop("buy", SampleCatalog.club.rawValue)
                #expect(try await setup.shop("coins") == "50 coins\n")
                _ = try await setup.store.advanceClock("31d", from: begun)
                let client = try setup.store.client(account: "ada")
                try await eventually("the renewal to be delivered") {
                    let queued = try await client.unfinished().value.transactions
                    return queued.first?.isDelivered == true ? true : nil
                }
                let hold = setup.hold(at: step, occurrence: 1)
                let shop = try await setup.start("listen")
                try await hold.reached()
                shop.send(SIGKILL)
                _ = await shop.exit()
                try await hold.dropped()
                hold.release()
                for _ in 1...2 { _ = try await setup.shop("listen") }
                #expect(try await setup.shop("coins") == "100 coins\n")
                #expect(try await setup.shop("listen") == "0 unfinished\n")
            }
        }

        /// A step of a purchase in the app, and whether the store has the payment at that point.
        enum Step: String, CaseIterable, Sendable {
            case beforeThePaymentIsSent
            case beforeThePaymentIsAnswered
            case beforeTheStreamSaysAnything
            case beforeTheFinishIsSent
            case beforeTheFinishIsAnswered

            var isPaid: Bool { self != .beforeThePaymentIsSent }
        }

        @Test(arguments: Step.allCases)
        func killedAtAnyStepItDeliversOnce(_ step: Step) async throws {
            try await withShop { setup in
                let hold = setup.hold(at: step)
                let shop = try await setup.start("buy", "com.example.coins.100")
                try await hold.reached()
                if step.isPaid { try await setup.store.expectPurchase() }
                shop.send(SIGKILL)
                _ = await shop.exit()
                try await hold.dropped()
                hold.release()
                let log = try await setup.shop("listen")
                let isFinished = step == .beforeTheFinishIsAnswered || !step.isPaid
                #expect(log.hasPrefix(isFinished ? "0 unfinished" : "1 unfinished"))
                #expect(
                    try await setup.shop("coins") == (step.isPaid ? "100 coins\n" : "0 coins\n")
                )
                #expect(try await setup.shop("listen") == "0 unfinished\n")
            }
        }
    }
}

extension EndToEnd.Shops.Setup {
    /// Holds the app's requests or their answers at a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - occurrence: The number of the stream's part that is the first to be held.
    /// - Returns: The hold.
    fileprivate func hold(at step: EndToEnd.Shops.Step, occurrence: Int = 2) -> Hold {
        switch step {
        case .beforeThePaymentIsSent:
            payments.hold(at: .beforeRequest("POST \(Routes.payments)"))
        case .beforeThePaymentIsAnswered:
            payments.hold(at: .beforeResponse("POST \(Routes.payments)"))
        case .beforeTheStreamSaysAnything:
            fulfillment.hold(
                at: .beforeResponse("GET \(Routes.queue) "),
                occurrence: occurrence
            )
        case .beforeTheFinishIsSent: fulfillment.hold(at: .beforeRequest("/finish"))
        case .beforeTheFinishIsAnswered: fulfillment.hold(at: .beforeResponse("/finish"))
        }
    }
}

extension StoreHarness {
    /// Waits until the account has a delivered purchase, finished or not.
    fileprivate func expectPurchase() async throws {
        let client = try client(account: "ada")
        try await eventually("the purchase to be delivered") {
            try await client.credits().value.balances["coins"] == 100 ? true : nil
        }
    }
}

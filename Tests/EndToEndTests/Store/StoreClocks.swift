import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// The clock of a sandbox is set over HTTP, and every service follows it.
    @Suite
    struct StoreClocks {
        private static let month = Duration.seconds(31 * 86_400)

        /// Expects that an advance of a month was made once.
        ///
        /// An event that another service wrote before it knew that the clock is frozen moves the clock
        /// by moments.
        private func expectMonth(from start: StoreTime, to target: StoreTime) {
            let least = start.advanced(by: Self.month)
            #expect(target >= least && target < least.advanced(by: .seconds(3600)))
        }

        @Test func whatIsSoldAfterAnAdvanceHasItsDatesInEveryService() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let before = try await store.buy()
                try await store.client(account: "ada")
                    .wait(for: before.transactionID, toBe: .purchased)
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                let target = try await store.advanceClock("31d", from: frozen.now)
                expectMonth(from: frozen.now, to: target)

                let payment = try await store.buy()
                let client = try store.client(account: "ada")
                let bought = try await client.wait(for: payment.transactionID, toBe: .purchased)
                #expect(bought.purchasedAt == target)
                let finished = try await client.finishUntilDone(payment.transactionID)
                #expect(finished.finishedAt == target)
                for url in store.urls.ofAllServices {
                    try await eventually("\(url) to follow the clock") {
                        try await store.followedClock(url).now == target ? true : nil
                    }
                }
                try await store.expectWhole([before, payment])
            }
        }

        @Test func aServiceThatIsKilledKnowsTheTimeBeforeItIsReadyAgain() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                let target = try await store.advanceClock("31d", from: frozen.now)
                for process in store.processes {
                    await process.kill()
                    try await process.start()
                }
                try await store.waitUntilReady()
                let clock = try await store.readClock()
                #expect(clock.now == target && clock.mode == .frozen)
                let payment = try await store.buy()
                let bought = try await store.client(account: "ada")
                    .wait(for: payment.transactionID, toBe: .purchased)
                #expect(bought.purchasedAt == target)
                try await store.expectWhole([payment])
            }
        }

        @Test(.onlySandbox("No card waits for approval."))
        func theCommandAdvancesTheClockAndEveryServiceFollows() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                _ = try await store.setClock(Routes.adminClockFreeze)
                let asked = try await store.buy(by: .needsApproval)
                let malformed = try await store.counterfoil("clock", "advance", "31")
                #expect(malformed.exit == .code(64) && malformed.output.contains("31d"))
                let answer = try await store.counterfoil("clock", "advance", "31d")
                #expect(answer.exit == .code(0), "\(answer.output)")
                #expect(answer.output.contains("Done: 1 expired approval."), "\(answer.output)")
                let clock = try await store.readClock()
                for url in store.urls.ofAllServices {
                    let followed = try await store.followedClock(url)
                    #expect(followed.step >= clock.step && followed.now == clock.now, "\(url)")
                }
                try await store.client(account: "ada").wait(for: asked.transactionID, toBe: .failed)
            }
        }

        @Test func theCommandFreezesSetsAndRunsTheClock() async throws {
            try await withStore { store in
                let frozen = try await store.counterfoil("clock", "freeze")
                #expect(frozen.exit == .code(0) && frozen.output.contains(", frozen"), "\(frozen)")
                let start = try await store.readClock().now
                let past = try await store.counterfoil("clock", "set", "\(start)")
                #expect(past.exit == .code(1) && past.output.contains("only moves"), "\(past)")
                let target = start.advanced(by: .seconds(3600))
                let set = try await store.counterfoil("clock", "set", "\(target)")
                #expect(set.exit == .code(0), "\(set)")
                #expect(set.output.contains("\(target), frozen"), "\(set)")
                let idle = try await store.counterfoil("clock", "resume")
                #expect(idle.exit == .code(1) && idle.output.contains("to resume"), "\(idle)")

                let slow = try await store.counterfoil("clock", "rate", "1h=1m")
                #expect(slow.exit == .code(64), "\(slow)")
                let apple = try await store.counterfoil("clock", "rate", "apple")
                let rate = try #require(ClockRate("1h=8766h"))
                #expect(apple.output.contains("running at \(rate)"), "\(apple)")
                #expect(try await store.readClock().rate == "\(rate)")
                let run = try await store.counterfoil("clock", "run")
                #expect(run.output.contains("running at \(ClockRate.one)"), "\(run)")
                let shown = try await store.counterfoil("clock", "show", "--json")
                #expect(shown.output.contains(#""mode" : "running""#), "\(shown)")
            }
        }

        @Test func anAdvanceMayWaitUntilEveryServiceHasActed() async throws {
            try await withStore { store in
                _ = try await store.subscribe()
                let answer = try await store.counterfoil(
                    "clock",
                    "advance",
                    "31d",
                    "--until-applied"
                )
                #expect(answer.exit == .code(0), "\(answer)")
                #expect(answer.output.contains("Every service has acted on it; "), "\(answer)")
                // Nobody waits for it any more.
                let queue = try await store.client(account: "ada").unfinished().value.transactions
                #expect(queue.count == 2 && queue.allSatisfy(\.isDelivered))
            }
        }

        /// Its clock goes on, and so does the advance; only who asks for it waits for the rest.
        @Test func anAdvanceEndsWhileACommitOfAnotherServiceIsHeld() async throws {
            try await withStore(.with(postgresProxies: [.fulfillment])) { store in
                _ = try await store.subscribe()
                let hold = try store.hold(
                    .fulfillment,
                    .beforeCommit(ofTransactionWith: "INSERT INTO queue_transactions")
                )
                let moved = try await store.counterfoil("clock", "advance", "31d")
                #expect(moved.exit == .code(0), "\(moved)")
                let early = try await store.counterfoil(
                    ["clock", "advance", "1s", "--until-applied", "--timeout", "10"]
                )
                #expect(early.exit == .code(75), "\(early)")
                #expect(early.output.contains("fulfillment behind receipts.issued"), "\(early)")
                hold.release()
                let later = try await store.counterfoil("clock", "advance", "1s", "--until-applied")
                #expect(later.exit == .code(0), "\(later)")
                let queue = try await store.client(account: "ada").unfinished().value.transactions
                #expect(queue.count == 2 && queue.allSatisfy(\.isDelivered))
            }
        }

        @Test func aCommandThatWaitsShowsHowFarItIs() async throws {
            try await withStore { store in
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                let process = store.process(.fulfillment)
                await process.kill()
                let target = frozen.now.advanced(by: .seconds(86_400))
                let answer = try await store.counterfoil(
                    ["clock", "set", "\(target)", "--timeout", "4"]
                )
                #expect(answer.exit == .code(75), "\(answer)")
                #expect(answer.output.contains(" of \(target)"), "\(answer)")
                #expect(answer.output.contains("fulfillment (away) (for "), "\(answer)")
                #expect(try await store.readClock().now == target)
            }
        }

        /// No service has read a change of the clock when the broker loses its log.
        @Test func theFirstChangeIsFollowedAfterTheBrokerHasLostItsLog() async throws {
            try await withStore { store in
                await store.broker.kill()
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                try await store.broker.restart()
                let answer = try await store.counterfoil("clock", "advance", "1d")
                #expect(answer.exit == .code(0), "\(answer.output)")
                for url in store.urls.ofAllServices {
                    let followed = try await store.followedClock(url)
                    #expect(followed.now == frozen.now.advanced(by: .seconds(86_400)), "\(url)")
                }
            }
        }

        @Test(.onlySandbox("A store in production does not take a test key."))
        func aSandboxWhoseClockWasSetIsNotReadyInProduction() async throws {
            try await withStore { store in
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                for process in [store.process(.payments), store.process(.receipts)] {
                    try await eventually("\(process.url) to follow the clock") {
                        try await store.followedClock(process.url).step == frozen.step ? true : nil
                    }
                    _ = try await process.terminate()
                    process.set(["STORE_ENVIRONMENT": "Production"])
                    try await process.start()
                    try await eventually("\(process.url) to say that its clock was set") {
                        // It may not be listening yet.
                        let url = process.url + "/health/ready"
                        guard let answer = try? await StoreHTTP.send(.GET, url) else {
                            return Bool?.none
                        }
                        return answer.status == 503
                            && answer.text.contains("store clock in production") ? true : nil
                    }
                }
            }
        }

        @Test func beforeAnAdvanceIsCommitted() async throws {
            try await kill(.beforeCommit(ofTransactionWith: "INTO clock_advances"))
        }

        @Test func betweenTwoStepsOfAnAdvance() async throws {
            try await kill(.beforeStatement(containing: "min(approval_ends_at)"))
        }

        @Test func beforeAStepOfAnAdvanceIsCommitted() async throws {
            let statement = "SELECT count(*) FROM processor_attempts WHERE approval_ends_at"
            try await kill(.beforeCommit(ofTransactionWith: statement))
        }

        /// Kills `payments` at a point of an advance, and expects that it is made, once.
        private func kill(_ point: PostgresProxy.Point) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                let hold = try store.hold(.payments, point)
                async let asked = store.advanceClock("31d", from: frozen.now)
                try await store.crash(.payments, at: hold)
                _ = try? await asked  // Its answer is lost.
                let target = try await store.advanceClock("31d", from: frozen.now)
                expectMonth(from: frozen.now, to: target)
                try await store.expectWhole([try await store.buy()])
            }
        }

        @Test(arguments: [StoreService.receipts, .fulfillment])
        func beforeAStepOfAnAdvanceIsNoted(_ service: StoreService) async throws {
            try await withStore(.with(postgresProxies: [service])) { store in
                _ = try await store.subscribe()
                let start = try await store.readClock().now
                let hold = try store.hold(
                    service,
                    .beforeStatement(containing: "INSERT INTO followed_clock")
                )
                async let asked = store.advanceClock("93d", from: start)
                try await store.crash(service, at: hold)
                try await store.expectPeriods(4, until: try await asked)
            }
        }

        @Test func servicesThatAreKilledDuringAnAdvanceHaveItsDatesAfterwards() async throws {
            try await withStore { store in
                _ = try await store.subscribe()
                let start = try await store.readClock().now
                async let asked = store.advanceClock("93d", from: start)
                try await store.untilAdvanced(pastADayAfter: start)
                let killed = [StoreService.receipts, .fulfillment].map { store.process($0) }
                for process in killed { await process.kill() }
                for process in killed { try await process.start() }
                for process in killed { try await process.waitUntilReady() }
                try await store.expectPeriods(4, until: try await asked)
            }
        }

        /// A verifier compares the times of the answer with those of its machine.
        @Test func certificatesHaveTheStatusOfTodayInAStoreThatIsAhead() async throws {
            try await withStore { store in
                let frozen = try await store.setClock(Routes.adminClockFreeze)
                _ = try await store.advanceClock("366d", from: frozen.now)
                let folder = FileManager.default.temporaryDirectory
                    .appending(path: "ocsp-\(UUID().uuidString)")
                try FileManager.default.createDirectory(
                    at: folder,
                    withIntermediateDirectories: true
                )
                // A leftover does no harm.
                defer { try? FileManager.default.removeItem(at: folder) }
                let end = "-----END CERTIFICATE-----\n"
                let chain = try String(contentsOfFile: store.keys.signingChain, encoding: .utf8)
                let names = ["leaf", "intermediate", "root"]
                for (name, part) in zip(names, chain.components(separatedBy: end)) {
                    let file = folder.appending(path: name)
                    try (part + end).write(to: file, atomically: true, encoding: .utf8)
                }
                let paths = names.map { folder.appending(path: $0).path() }
                let output = try await ChildProcess.run(
                    "/usr/bin/env",
                    [
                        "openssl", "ocsp", "-issuer", paths[1], "-cert", paths[0],
                        "-url", "\(store.urls.receipts)/ocsp",
                        "-CAfile", paths[2], "-verify_other", paths[1],
                    ],
                    environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
                )
                #expect(output.contains("Response verify OK"), "\(output)")
                #expect(output.contains("leaf: good"), "\(output)")
                #expect(!output.contains("WARNING"), "\(output)")
            }
        }

        @Test(.onlySandbox("A store in production does not take a test key."))
        func aStoreInProductionHasNoClockToSet() async throws {
            let production = ["STORE_ENVIRONMENT": "Production"]
            let settings = [StoreService.payments: production, .receipts: production]
            try await withStore(.with(settings: settings)) { store in
                let url = store.urls.payments
                let shown = try await store.administrator.raw(.GET, url + Routes.adminClock)
                #expect(shown.status == 404)
                for path in [
                    Routes.adminClockAdvance, Routes.adminClockFreeze, Routes.adminClockRun,
                ] {
                    let answer = try await store.administrator.raw(
                        .POST,
                        url + path,
                        body: Array(#"{"by":"31d"}"#.utf8)
                    )
                    #expect(answer.status == 404, "\(path)")
                }
                // Rule S523: a clock that was set ahead may be right.
                let confirmed = try await store.counterfoil("clock", "resume")
                #expect(confirmed.exit == .code(0), "\(confirmed)")
                #expect(confirmed.output.contains("the machines' time"), "\(confirmed)")
            }
        }
    }
}

extension StoreURLs {
    fileprivate var ofAllServices: [String] { [catalog, payments, receipts, fulfillment] }
}

extension StoreHarness {
    /// The dates of a signed transaction.
    private struct SignedDates: Decodable {
        var expiresDate: Int64
        var purchaseDate: Int64
        var signedDate: Int64
    }

    /// Expects the periods of the account's only subscription after an advance, with the same dates in
    /// `payments`, in the queue and in what `receipts` has signed.
    fileprivate func expectPeriods(_ count: Int, until target: StoreTime) async throws {
        for url in urls.ofAllServices {
            try await eventually("\(url) to follow the clock") {
                try await followedClock(url).now == target ? true : nil
            }
        }
        let client = try client(account: "ada")
        let queued = try await eventually("the periods to be delivered") {
            let queued = try await client.unfinished().value.transactions
            return queued.count == count && queued.allSatisfy(\.isDelivered) ? queued : nil
        }
        let root = Array(try Data(contentsOf: URL(fileURLWithPath: keys.rootCertificate)))
        var end: StoreTime?
        for transaction in queued.map(\.transaction).sorted(by: { $0.id < $1.id }) {
            let sold = try await administrator.raw(
                .GET,
                urls.payments + "\(Routes.adminTransactions)/\(transaction.id)"
            ).decode(TransactionResponse.self).transaction
            #expect(sold.subscription == transaction.subscription, "\(sold.id)")
            #expect(sold.purchasedAt == transaction.purchasedAt, "\(sold.id)")
            let period = try #require(sold.subscription)
            if let end { #expect(period.start == end, "\(sold.id) follows the period before") }
            end = period.end
            let receipt = try await client.receipt(sold.id).value.signedTransaction
            let payload = try SignedTransactionCheck(receipt, rootCertificate: root).payload
            let dates = try JSONDecoder().decode(SignedDates.self, from: Data(payload.utf8))
            #expect(dates.purchaseDate == period.start?.millisecondsSinceEpoch, "\(sold.id)")
            #expect(dates.expiresDate == period.end?.millisecondsSinceEpoch, "\(sold.id)")
            let purchased = try #require(sold.purchasedAt)
            #expect(
                dates.signedDate >= purchased.millisecondsSinceEpoch,
                "\(sold.id) is signed after it was sold"
            )
            try await client.finishUntilDone(sold.id)
        }
        try await agreedBooks()
    }
}

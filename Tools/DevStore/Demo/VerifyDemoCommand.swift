import ArgumentParser
import EventTypes
import Foundation
import NIOPosix
import Postgres
import StoreAPI
import StoreHarness

/// `devstore verify-demo`: proves a temporary store's books, and finds an altered row.
struct VerifyDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-demo",
        abstract: "Rebuilds a store's books from its event log, and detects an altered row.",
        discussion: """
            Starts a fresh store, buys, refunds and restores, and runs `counterfoil replay \
            --verify`: every table is rebuilt from the log and compared. Then it alters one \
            amount in the ledger, as only a superuser can, and shows that the difference is \
            found. It also reports how much faster the log is applied than the same purchases \
            were made. The goal is five times, in a release build.
            """
    )

    @Option(help: "How many purchases to make.")
    var purchases = 5000

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard purchases >= 100 else { throw ValidationError("--purchases must be at least 100.") }
    }

    func run() async throws {
        let load = BenchDriver.Load(
            purchases: purchases,
            accounts: 64,
            inFlight: 1024,
            connections: 64,
            rate: nil
        )
        try await store.measure(
            "The proof: \(Terminal.describe(purchases)) purchases",
            target: "verify-demo"
        ) { terminal, store in
            try await VerifyDemoRun(terminal: terminal, store: store, load: load).run()
        }
    }
}

/// A demonstration of the proof.
private struct VerifyDemoRun: Sendable {
    let terminal: Terminal
    let store: StoreHarness
    let load: BenchDriver.Load

    /// The goal: how much faster the log is applied than the purchases were made.
    private static let speedGoal = 5.0

    /// The part of the answer of `replay --verify --json` that is used here.
    private struct Report: Decodable {
        struct Service: Decodable {
            let name: String
            let events: Int
            let applyingMilliseconds: Int
            let milliseconds: Int
        }

        let services: [Service]
    }

    /// Runs it to its end.
    ///
    /// - Returns: `true`: only the proof can fail it; its speed is merely reported.
    func run() async throws -> Bool {
        let clock = ContinuousClock()
        terminal.heading("Purchases, refunds, restores")
        let driver = try BenchDriver(
            load: load,
            store: store,
            eventLoop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        )
        try await driver.open()
        let begin = clock.now
        let watch = Task { try await terminal.tellProgress(of: driver) }
        defer { watch.cancel() }
        try await driver.run()
        watch.cancel()
        let live = clock.now - begin
        terminal.done("\(Terminal.describe(load.purchases)) purchases", live)
        try await refundAndRestore(driver)

        terminal.heading("counterfoil replay --verify")
        let (answer, report) = try await prove()
        terminal.line(answer.output)
        guard answer.exit == .code(0) else {
            throw HarnessError("The books differ from the event log.")
        }
        let slowest = report.services.map(\.applyingMilliseconds).max() ?? 0
        let ratio = live.seconds * 1000 / Double(max(slowest, 1))
        let rate = Double(load.purchases) / live.seconds
        terminal.field("live", "\(Terminal.describe(Int(rate))) purchases/s")
        terminal.field(
            "from the log",
            "\(Terminal.describe(Int(rate * ratio))) purchases/s in all services at once, "
                + String(format: "%.1f times as many (goal: %.0f)", ratio, Self.speedGoal)
        )

        terminal.heading("One altered row")
        try await store.withDatabase(of: .payments) { connection in
            try connection.execute("SET counterfoil.migrating = 'on'")
            try connection.execute(
                """
                UPDATE ledger_postings SET amounts = ARRAY[amounts[1] - 1, amounts[2] + 1]
                WHERE ctid = (
                    SELECT ctid FROM ledger_postings WHERE cardinality(amounts) = 2 LIMIT 1)
                """
            )
        }
        let found = try await store.counterfoil("replay", "--verify", "--service", "payments")
        terminal.line(found.output)
        guard found.exit == .code(1), found.output.contains("1 differences in") else {
            throw HarnessError("The altered row was not found.")
        }
        return true
    }

    private func prove() async throws -> (ProgramAnswer, Report) {
        let json = try await store.counterfoil("replay", "--verify", "--json")
        guard let start = json.output.firstIndex(of: "{"),
            let report = try? JSONDecoder().decode(
                Report.self,
                from: Data(json.output[start...].utf8)
            )
        else { throw HarnessError("The proof was not made: \(json.output)") }
        return (try await store.counterfoil("replay", "--verify"), report)
    }

    private func refundAndRestore(_ driver: BenchDriver) async throws {
        let begin = ContinuousClock.now
        let refunds = min(50, driver.transactionIDs.count)
        for id in driver.transactionIDs.prefix(refunds) {
            _ = try await store.administrator.refund(TransactionID(number: Int64(id)))
        }
        let owner = try store.client(account: "buyer-0")
        let bought = try await owner.addUntilAnswered(.sample(SampleCatalog.pro)).value.transaction
        try await owner.finishUntilDone(bought.id)
        try await eventually("the purchase to be restored") {
            try await owner.restore().value.transactions.first
        }
        terminal.done("\(refunds) refunds, one non-consumable restored", .now - begin)
    }
}

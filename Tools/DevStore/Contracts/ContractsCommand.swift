import ArgumentParser
import Foundation
import StoreHarness

/// `devstore contracts`: a store, held to its contracts.
struct ContractsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contracts",
        abstract: "Validates the contracts, and fuzzes a store by them.",
        discussion: """
            Starts a throw-away store, buys a little, and runs Tests/Contracts/run, which validates \
            the OpenAPI and AsyncAPI documents that the services serve, holds the fixtures to them, \
            and calls every route with schemathesis for so many seconds. Every event that crosses \
            the broker meanwhile is held to its message. Exits 1 at any 5xx, at any answer or event \
            that is not as the documents say, and tells the seed and a call that shows it.
            """
    )

    @Option(help: "For how long every route is called, in seconds.")
    var seconds = 60

    @Option(help: "What the calls are drawn from; the same seed draws the same.")
    var seed = 1

    @Option(help: "One service: catalog, payments, receipts or fulfillment.")
    var only: String?

    func validate() throws {
        guard seconds >= 1 else { throw ValidationError("--seconds is above zero.") }
        guard only.map({ StoreService(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--only names no service.")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        let load = ContractsRun.Load(seconds: seconds, seed: seed, only: only)
        do {
            let interrupted = try await Interruption.cancelling {
                try await Self.check(terminal, load)
            }
            if interrupted { throw ExitCode(130) }
        } catch let error as HarnessError {
            terminal.complain(error)
            throw ExitCode(1)
        }
    }

    private static func check(_ terminal: Terminal, _ load: ContractsRun.Load) async throws {
        terminal.heading("A store, held to its contracts")
        var options = StoreOptions()
        options.progress = terminal.progress
        // A key may ask so often that it is not the limit that answers.
        options.settings = [
            .receipts: ["SERVER_REQUESTS_PER_SECOND": "100000"],
            .fulfillment: ["SERVER_REQUESTS_PER_SECOND": "100000"],
        ]
        let keepsContract = try await withStore(options) { store in
            try await terminal.importSampleCatalog(into: store)
            let run = ContractsRun(store: store, terminal: terminal)
            let watcher = try EventWatcher.start(store)
            let description = try await run.prepare()
            return try await run.check(description, load, watcher)
        }
        guard keepsContract else { throw ExitCode(1) }
    }
}

import ArgumentParser
import Foundation
import StoreHarness

/// `devstore contracts`: tests a store against its contracts.
struct ContractsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contracts",
        abstract: "Validates the API contracts, and fuzzes a store against them.",
        discussion: """
            Starts a temporary store, makes a few purchases, and runs Tests/Contracts/run. That \
            validates the OpenAPI and AsyncAPI documents that the services serve, checks the \
            fixtures against them, and calls every route with schemathesis, for --seconds in \
            all. Meanwhile every event that crosses the broker is checked against its message's \
            schema. Exits with 1 at any 5xx answer, and at any answer or event that the \
            documents do not allow; it then prints the seed and a call that reproduces it.
            """
    )

    @Option(help: "For how many seconds to call routes, over all services.")
    var seconds = 60

    @Option(help: "The seed of the generated calls; the same seed gives the same calls.")
    var seed = 1

    @Option(help: "Test one service only: catalog, payments, receipts or fulfillment.")
    var only: String?

    func validate() throws {
        guard seconds >= 1 else { throw ValidationError("--seconds must be positive.") }
        guard only.map({ StoreService(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--only must name a service.")
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
        terminal.heading("A store, tested against its contracts")
        var options = StoreOptions()
        options.processor = .sandbox
        options.progress = terminal.progress
        // The limit of requests per key is raised, so that it does not answer in place of the
        // route.
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

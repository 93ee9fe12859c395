import ArgumentParser
import Foundation
import StoreHarness

/// `devstore conformance`: tests a store with Apple's own client.
struct ConformanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Tests a store with Apple's own open-source client and with openssl.",
        discussion: """
            Starts a temporary store, makes the purchases that the calls need, and runs \
            Tests/Conformance/run. That installs the client, prints a table and says whether \
            every row is as expected. Exits with 1 if a row is not.
            """
    )

    @Option(help: "Run one group of rows only: certificates, verifier, histories, …")
    var only: String?

    func run() async throws {
        let terminal = Terminal()
        let only = only
        do {
            let interrupted = try await Interruption.cancelling {
                try await Self.call(terminal, only)
            }
            if interrupted { throw ExitCode(130) }
        } catch let error as HarnessError {
            terminal.complain(error)
            throw ExitCode(1)
        }
    }

    private static func call(_ terminal: Terminal, _ only: String?) async throws {
        terminal.heading("A store for Apple's client")
        var options = StoreOptions()
        options.processor = .sandbox
        options.progress = terminal.progress
        let isConforming = try await withStore(options) { store in
            try await terminal.importSampleCatalog(into: store)
            let run = try await ConformanceRun(store)
            let clock = ContinuousClock()
            let begin = clock.now
            let description = try await run.prepare()
            terminal.done("purchases that the calls need", clock.now - begin)
            return try await run.call(description, only: only)
        }
        guard isConforming else { throw ExitCode(1) }
    }
}

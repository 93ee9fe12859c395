import ArgumentParser
import EventTypes
import Foundation
import NIOPosix
import TestSupport

/// `devstore bench`: how many finished purchases a second, and at what cost.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures finished purchases per second, and what they cost.",
        discussion: """
            Starts a fresh store and drives it over HTTP: each purchase is paid for, seen delivered \
            on the account's stream, and finished. Then the books are audited. Everything, the load \
            too, runs on this machine. Use a release build: make bench.

            The last line is JSON.
            """
    )

    @Option(help: "How many purchases.")
    var purchases = 100_000

    @Option(help: "How many accounts buy; each has a stream of its own.")
    var accounts = 256

    @Option(help: "How many purchases are in flight at once.")
    var inFlight = 2048

    @Option(help: "How many connections to payments, and as many to fulfillment.")
    var connections = 128

    @Option(help: "How many partitions each topic has; one instance of each service needs no more.")
    var partitions = 2

    @Option(help: "Begin this many purchases a second, instead of as many as go.")
    var rate: Int?

    @Option(help: "The services' log level.")
    var logLevel = "warning"

    func validate() throws {
        guard purchases > 0, accounts > 0, inFlight > 0, connections > 0, partitions > 0
        else {
            throw ValidationError("All numbers must be positive.")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        terminal.heading("Benchmark: \(Terminal.describe(purchases)) purchases")
        #if DEBUG
        terminal.line("  A debug build: its numbers say little. Use `make bench`.", .yellow)
        #endif
        var options = StoreOptions()
        options.database = .own
        options.fsync = true
        options.logLevel = logLevel
        options.isImpatient = false
        options.partitions = partitions
        options.progress = terminal.progress
        let load = BenchDriver.Load(
            purchases: purchases,
            accounts: accounts,
            inFlight: inFlight,
            connections: connections,
            rate: rate
        )
        let chosen = options
        do {
            let interrupted = try await Interruption.cancelling {
                try await withStore(chosen) { store in
                    let report = try await BenchRun(
                        terminal: terminal,
                        store: store,
                        load: load
                    ).run()
                    guard report.isClean else {
                        throw HarnessError("The guarantee is broken: \(report.verdict).")
                    }
                }
            }
            if interrupted { throw ExitCode(130) }
        } catch let error as HarnessError {
            terminal.complain(error)
            throw ExitCode(1)
        }
    }
}

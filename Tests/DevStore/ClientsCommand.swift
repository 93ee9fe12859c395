import ArgumentParser
import TestSupport

/// `devstore clients`: what connected clients cost, and how soon they are told.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients",
        abstract: "Measures what connected clients cost, and how soon they are told.",
        discussion: """
            Starts a fresh store; connects idle clients and looks at memory and at the database's \
            work; lets a client with many unfinished transactions launch; and buys, one after the \
            other, through the client library. Use a release build: make clients.
            """
    )

    @Option(help: "How many clients are connected and idle.")
    var idle = 5_000

    @Option(help: "For how many seconds they are watched.")
    var seconds = 20

    @Option(help: "How many unfinished transactions a client finds when it launches.")
    var unfinished = 1_000

    @Option(help: "How many purchases are made, one after the other.")
    var purchases = 300

    func validate() throws {
        guard idle > 0, seconds > 0, unfinished > 0, purchases > 0 else {
            throw ValidationError("All numbers must be positive.")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        terminal.heading("Clients: \(Terminal.describe(idle)) of them idle")
        #if DEBUG
        terminal.line("  A debug build: its numbers say little. Use `make clients`.", .yellow)
        #endif
        var options = StoreOptions()
        options.database = .own
        options.fsync = true
        options.logLevel = "warning"
        options.isImpatient = false
        options.partitions = 2
        options.progress = terminal.progress
        let chosen = options
        do {
            let interrupted = try await Interruption.cancelling {
                try await withStore(chosen) { store in
                    try await terminal.importSampleCatalog(into: store)
                    let run = ClientsRun(terminal: terminal, store: store)
                    try await run.watchIdle(idle, for: .seconds(seconds))
                    try await run.launch(with: unfinished)
                    try await run.buy(purchases)
                }
            }
            if interrupted { throw ExitCode(130) }
        } catch let error as HarnessError {
            terminal.complain(error)
            throw ExitCode(1)
        }
    }
}

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

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard idle > 0, seconds > 0, unfinished > 0, purchases > 0 else {
            throw ValidationError("All numbers must be positive.")
        }
    }

    func run() async throws {
        try await store.measure(
            "Clients: \(Terminal.describe(idle)) of them idle",
            target: "clients"
        ) { terminal, store in
            let run = ClientsRun(terminal: terminal, store: store)
            try await run.watchIdle(idle, for: .seconds(seconds))
            try await run.launch(with: unfinished)
            try await run.buy(purchases)
            return true
        }
    }
}

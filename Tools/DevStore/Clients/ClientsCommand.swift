import ArgumentParser
import StoreHarness

/// `devstore clients`: measures what connected clients cost, and how soon they learn of a purchase.
struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients",
        abstract: "Measures what connected clients cost, and how soon they learn of a purchase.",
        discussion: """
            Starts a fresh store and measures four things: memory and database work while idle \
            clients are connected; the launch of a client with many unfinished transactions; the \
            time a message takes from topic to topic of the broker, with no work in between; and \
            purchases, one after the other, through the client library. Use a release build: \
            make clients.

            Exits with 1 if a goal is missed. The goals are fulfillment's memory with all \
            clients connected, and the 99th percentile of a purchase beyond that of the broker \
            alone.
            """
    )

    @Option(help: "How many idle clients to connect.")
    var idle = 5_000

    @Option(help: "For how many seconds to observe the idle clients.")
    var seconds = 20

    @Option(help: "How many unfinished transactions a client finds when it launches.")
    var unfinished = 1_000

    @Option(help: "How many purchases to make, one after the other.")
    var purchases = 300

    @Option(help: "The most memory, in MB, that fulfillment may use with all clients connected.")
    var memoryMax = 200

    @Option(help: "The most milliseconds that a purchase may take beyond the broker (p99).")
    var beyondBrokerMax = 100

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard idle > 0, seconds > 0, unfinished > 0, purchases > 0, memoryMax > 0,
            beyondBrokerMax > 0
        else {
            throw ValidationError("All numbers must be positive.")
        }
    }

    func run() async throws {
        try await store.measure(
            "Clients: \(Terminal.describe(idle)) of them idle",
            target: "clients"
        ) { terminal, store in
            let run = ClientsRun(terminal: terminal, store: store)
            let megabytes = try await run.watchIdle(idle, for: .seconds(seconds))
            try await run.launch(with: unfinished)
            let broker = try await run.relay(purchases)
            let beyond = try await run.buy(purchases, broker: broker)
            return terminal.judge([
                Goal("MB of fulfillment with all connected", megabytes, memoryMax),
                Goal("ms of a purchase beyond the broker, p99", beyond, beyondBrokerMax),
            ])
        }
    }
}

import ArgumentParser
import EventTypes
import Foundation
import StoreAPI
import StoreHarness

/// `devstore run`: a store that runs until Ctrl-C.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Starts a store that runs until Ctrl-C.",
        discussion: """
            PostgreSQL's data, the keys and the logs stay in the folder, and the next run \
            continues with them. The broker starts empty each time; the services publish their \
            outboxes to it again. The services listen on ports 8081 to 8084, a shop for a \
            browser on 8085, and the operator's console on 8086.
            """
    )

    @Option(help: "The folder for everything that the store keeps.")
    var directory = ".dev"

    @Option(help: "The services' log level: trace, debug, info, notice, warning, error.")
    var logLevel = "info"

    @Flag(help: "Start, make one purchase, and stop: a check that the store works.")
    var once = false

    func run() async throws {
        let terminal = Terminal()
        let directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        var options = StoreOptions()
        options.processor = .sandbox
        options.directory = directory
        options.database = .kept(directory: directory + "/postgres")
        options.fsync = true
        options.usesUsualPorts = true
        options.partitions = Topics.partitionCount
        options.isImpatient = false
        options.logLevel = logLevel
        options.progress = terminal.progress
        let (once, chosen) = (once, options)
        do {
            try await Interruption.cancelling(
                onInterrupt: {
                    terminal.line()
                    terminal.line("Stopping; press Ctrl-C again to quit at once.", .dim)
                },
                { try await Self.serve(terminal, chosen, once: once) }
            )
        } catch let error as HarnessError {
            terminal.complain(error)
            throw ExitCode(1)
        }
    }

    private static func serve(
        _ terminal: Terminal,
        _ options: StoreOptions,
        once: Bool
    ) async throws {
        terminal.heading("Counterfoil: a store on this machine")
        try requireFreePorts()
        let store = try await StoreHarness.start(options)
        do {
            try await terminal.importSampleCatalog(into: store)
            try await SampleContent.upload(to: store)
            try await SampleCodes.make(in: store)
            try await buyOnce(terminal, store)
            try whereToLook(terminal, store)
            if !once {
                try await sell(terminal, store)
            }
        } catch {
            await stop(terminal, store)
            throw error
        }
        await stop(terminal, store)
    }

    /// Runs the storefront and the console beside the store, until Ctrl-C.
    private static func sell(_ terminal: Terminal, _ store: StoreHarness) async throws {
        var companions: [CompanionProcess] = []
        do {
            companions.append(try await ConsoleProcess.start(beside: store))
            companions.append(try await StorefrontProcess.start(beside: store))
            terminal.line()
            terminal.line("  Look at it all in a browser (the address is good for a minute):", .dim)
            terminal.line(
                "  . \(OperatorEnvironment.path(of: store)) && counterfoil console ticket"
            )
            terminal.line()
            terminal.line("  Redeem the code \(SampleCodes.word) in the shop.", .dim)
            terminal.line()
            terminal.line("The store is up. Ctrl-C stops it. Its shop, for a browser:", .bold)
            terminal.line(companions.last?.url ?? "", .cyan)
            try await watch(terminal, store, companions)
        } catch {
            // Also after a cancellation: their streams end before the store does.
            await Task { [companions] in
                for companion in companions { await companion.stop() }
            }.value
            throw error
        }
    }

    private static func stop(_ terminal: Terminal, _ store: StoreHarness) async {
        let clock = ContinuousClock()
        let begin = clock.now
        // This runs in a separate task: after a cancellation the processes must still be stopped in
        // order.
        await Task { await store.stop() }.value
        terminal.done("everything stopped", clock.now - begin)
    }

    /// Reports a process that ends by itself, which it should not.
    private static func watch(
        _ terminal: Terminal,
        _ store: StoreHarness,
        _ companions: [CompanionProcess]
    ) async throws {
        var ended: Set<String> = []
        while true {
            try await Task.sleep(for: .milliseconds(500))
            for process in store.processes
            where !process.isRunning && ended.insert(process.name).inserted {
                terminal.line("\(process.name) has ended.\n\(process.logTail())", .red)
            }
            for companion in companions {
                guard let exit = companion.exitIfEnded, ended.insert(companion.name).inserted else {
                    continue
                }
                terminal.line("\(companion.name) has ended with \(exit).", .red)
            }
        }
    }

    private static func buyOnce(_ terminal: Terminal, _ store: StoreHarness) async throws {
        terminal.heading("One purchase")
        let clock = ContinuousClock()
        let begin = clock.now
        let client = try store.client(account: "ada")
        let request = PaymentRequest.sample(SampleCatalog.coins)
        let transaction = try await client.addUntilAnswered(request).value.transaction
        let answered = clock.now
        terminal.done(
            "ada pays \(request.price) for \(request.productID): transaction \(transaction.id)",
            answered - begin
        )
        try await client.finishUntilDone(transaction.id)
        terminal.done("charged, posted, signed, delivered, finished", clock.now - answered)
        let credits = try await client.credits().value
        terminal.done(
            "ada owns "
                + credits.balances.sorted { $0.key < $1.key }
                .map { "\($0.value) \($0.key)" }.joined(separator: ", "),
            clock.now - begin
        )
    }

    private static func whereToLook(_ terminal: Terminal, _ store: StoreHarness) throws {
        terminal.heading("Where to look next")
        let urls = store.urls
        terminal.field("catalog", urls.catalog, .cyan)
        terminal.field("payments", urls.payments, .cyan)
        terminal.field("receipts", urls.receipts, .cyan)
        terminal.field("fulfillment", urls.fulfillment, .cyan)
        terminal.field("broker", store.broker.bootstrapServers)
        terminal.field("logs", "\(store.directory)/logs/*.log")
        terminal.field("metrics", "curl \(urls.payments)/metrics")
        let token = try store.keys.token(account: AccountID(unchecked: "ada"))
        let tokenPath = store.directory + "/ada.token"
        try Data(token.utf8).write(to: URL(fileURLWithPath: tokenPath))
        let bearer = "-H \"authorization: Bearer $(cat \(tokenPath))\""
        terminal.line()
        terminal.line("  Look at the ledger, the outbox and the deliveries:", .dim)
        for (service, sql) in [
            (StoreService.payments, "TABLE ledger_entries"),
            (.payments, "SELECT xid, position, type, subject FROM outbox ORDER BY 1, 2"),
            (.fulfillment, "TABLE deliveries"),
        ] {
            terminal.line("  psql '\(store.databaseURL(service))' -c '\(sql)'")
        }
        terminal.line()
        terminal.line("  Be the operator (then every command works on this store):", .dim)
        try OperatorEnvironment(store).write()
        terminal.line("  . \(OperatorEnvironment.path(of: store)) && counterfoil status")
        terminal.line()
        terminal.line("  Be ada (the token is good for twelve hours):", .dim)
        terminal.line(
            "  curl '\(urls.catalog)/v1/products?ids=com.example.pro&storefront=USA' \(bearer)"
        )
        terminal.line("  curl -N \(urls.fulfillment)/v1/queue \(bearer)")
        let body = String(
            decoding: try JSONEncoder().encode(PaymentRequest.sample(SampleCatalog.coins)),
            as: UTF8.self
        )
        terminal.line(
            "  curl \(urls.payments)/v1/payments \(bearer) \\\n"
                + "    -H 'content-type: application/json' -H \"idempotency-key: $RANDOM\" \\\n"
                + "    -d '\(body)'"
        )
    }

    private static func requireFreePorts() throws {
        for service in StoreService.allCases where !isFree(port: service.usualPort) {
            throw HarnessError(
                "Port \(service.usualPort), which \(service.rawValue) listens on, is taken. "
                    + "Is a store running already?\n"
                    + "  `ss -ltnp 'sport = :\(service.usualPort)'` shows by whom."
            )
        }
        for (port, name) in [
            (StorefrontProcess.port, "the storefront"), (ConsoleProcess.port, "the console"),
        ] where !isFree(port: port) {
            throw HarnessError("Port \(port), which \(name) listens on, is taken.")
        }
    }
}

import ArgumentParser
import Foundation
import TestSupport

/// `devstore chaos`: purchases while everything is killed, then an audit.
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Buys while everything is killed at random, then audits the books.",
        discussion: """
            Every process is killed with SIGKILL, half of the times while the commit of a batch is \
            on its way to PostgreSQL; the broker comes back empty (Apache Kafka with its log), \
            PostgreSQL is stopped without a checkpoint. Buyers ask again until they are answered, \
            as apps do. \
            Then everything is started again, and once it is quiet the audit compares what was \
            accepted with the books of all four services and of the payment processor.

            Last, the books are made again from the event log and compared with the live ones.

            Exits with 0 for "0 lost, 0 doubled" and "0 differences", else with 1 and keeps the logs. The same seed \
            kills the same processes at the same times.
            """
    )

    @Option(help: "For how long things are killed.")
    var seconds = 60

    @Option(help: "What the schedule is made from.")
    var seed: UInt64 = UInt64.random(in: 1...9999)

    @Option(help: "How many accounts buy at once.")
    var accounts = 16

    @Option(help: "How many instances of payments, receipts and fulfillment there are.")
    var replicas = 1

    @Option(
        help: "How many brokers there are, one of them down at a time; several need KAFKA_HOME."
    )
    var brokers = 1

    func validate() throws {
        guard seconds >= 5 else { throw ValidationError("--seconds must be at least 5.") }
        guard (1...512).contains(accounts) else {
            throw ValidationError("--accounts must be from 1 to 512.")
        }
        guard (1...4).contains(replicas) else {
            throw ValidationError("--replicas must be from 1 to 4.")
        }
        guard brokers == 1 || (3...5).contains(brokers) else {
            throw ValidationError(
                "--brokers must be 1, or from 3 to 5: of two, one is no majority."
            )
        }
        if brokers > 1, !BrokerProgram.chosen.mayHaveSeveralNodes {
            throw ValidationError("The development broker is one; set KAFKA_HOME for --brokers.")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        terminal.heading("Chaos with seed \(seed), \(seconds) s")
        var options = StoreOptions()
        options.database = .own
        options.fsync = true
        options.progress = terminal.progress
        options.postgresProxies = [.payments, .receipts, .fulfillment]
        options.replicas = [.payments: replicas, .receipts: replicas, .fulfillment: replicas]
        options.brokers = brokers
        let (seed, seconds, accounts, chosen) = (seed, seconds, accounts, options)
        try await terminal.perform {
            try await withStore(chosen) { store in
                let run = ChaosRun(
                    terminal: terminal,
                    store: store,
                    seed: seed,
                    length: .seconds(seconds),
                    accounts: accounts
                )
                let report = try await run.run()
                guard report.isClean else {
                    throw HarnessError("The guarantee is broken: \(report.verdict).")
                }
                try await terminal.prove(store)
            }
        }
    }
}

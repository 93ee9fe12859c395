import ArgumentParser
import Foundation
import StoreHarness

/// `devstore chaos`: purchases while everything is killed, hangs, goes dark or is full, then an audit.
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Buys while everything fails at random, then audits the books.",
        discussion: """
            Four kinds of fault, each with a rhythm of its own:
              kills   SIGKILL of a service, half of the times while the commit of a batch is on its way \
            to PostgreSQL; an immediate stop of PostgreSQL; SIGKILL of the broker, which comes back \
            empty (Apache Kafka with its log).
              hangs   SIGSTOP of a service, of PostgreSQL with all its backends, or of the broker, and \
            SIGCONT later. Some hang longer than a relay's leader may.
              dark    a line to PostgreSQL or to the broker swallows all traffic both ways, without a \
            reset. Afterwards its connections are cut, or what was said in the dark arrives late.
              disk    the file system of PostgreSQL's data has no room. It is a tmpfs, so this process \
            has to be allowed to mount (root). Where it is not, the run says so and does without.

            Half of the buyers wait four seconds for an answer, half of them twelve; then they ask again, \
            another instance if there is one. An answer of 5xx other than 502, 503 and 504 fails the run.

            At the end everything goes on or is started again. Once it is quiet the audit compares what \
            was accepted with the books of all four services and of the payment processor. What is not \
            settled in time is listed. Last, the books are made again from the event log and compared \
            with the live ones.

            Exits with 0 for "0 lost, 0 doubled" and "0 differences", else with 1 and keeps the logs. The \
            same seed, length and store make the same schedule.

            Examples:
              devstore chaos --seconds 60 --seed 7
              devstore chaos --only hangs --seed 7        only what SIGSTOP does
              devstore chaos --only dark --only disk
              unshare -m devstore chaos                   as root: the tmpfs is seen by this run alone
              KAFKA_HOME=/opt/kafka devstore chaos --brokers 3
            """
    )

    @Option(help: "For how long there are faults.")
    var seconds = 60

    @Option(help: "What the schedule is made from.")
    var seed: UInt64 = UInt64.random(in: 1...9999)

    @Option(help: "How many accounts buy at once.")
    var accounts = 16

    @Option(help: "How many instances of payments, receipts and fulfillment there are.")
    var replicas = 2

    @Option(help: "A kind of fault to take, again for another: kills, hangs, dark, disk.")
    var only: [FaultKind] = []

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
        var kinds = Set(only.isEmpty ? FaultKind.allCases : only)
        let names = FaultKind.allCases.filter(kinds.contains).map(\.rawValue)
        terminal.heading("Chaos with seed \(seed), \(seconds) s: \(names.joined(separator: ", "))")
        let leftOut = leaveOut(from: &kinds)
        for reason in leftOut { terminal.line("  ! \(reason)", .yellow) }
        guard !kinds.isEmpty else { throw ExitCode(1) }
        var options = StoreOptions()
        options.database = .own
        options.fsync = true
        options.hasOwnDisk = kinds.contains(.disk)
        // Otherwise a run would need minutes to use the log's room up.
        options.postgresSettings = ["max_wal_size=128MB"]
        options.progress = terminal.progress
        options.postgresProxies = Set(StoreService.allCases)
        options.kafkaProxy = brokers == 1
        options.replicas = [.payments: replicas, .receipts: replicas, .fulfillment: replicas]
        options.brokers = brokers
        let (seed, seconds, accounts) = (seed, seconds, accounts)
        try await terminal.perform { [options, kinds] in
            try await withStore(options) { store in
                let run = ChaosRun(
                    terminal: terminal,
                    store: store,
                    seed: seed,
                    length: .seconds(seconds),
                    accounts: accounts,
                    kinds: kinds
                )
                let report = try await run.run()
                for reason in leftOut { terminal.field("left out", reason, .yellow) }
                guard report.isClean else {
                    throw HarnessError("The guarantee is broken: \(report.verdict).")
                }
                try await terminal.prove(store)
                guard run.complaints.isEmpty else {
                    throw HarnessError(run.complaints.joined(separator: "\n  "))
                }
            }
        }
    }

    /// Takes out what cannot be done here.
    ///
    /// - Returns: What that is, and why.
    private func leaveOut(from kinds: inout Set<FaultKind>) -> [String] {
        var reasons: [String] = []
        if kinds.contains(.disk), let reason = MemoryDisk.reasonAgainst() {
            kinds.remove(.disk)
            reasons.append("no disk is filled (0 faults of this kind): \(reason)")
        }
        if kinds.contains(.dark), brokers > 1 {
            reasons.append(
                "the line to the broker does not go dark: a proxy stands in front of one"
            )
        }
        return reasons
    }
}

import ArgumentParser
import EventTypes
import Foundation
import StoreHarness

/// `devstore chaos`: makes purchases amid kills, hangs, dark connections and a full disk, then
/// audits.
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Makes purchases while everything fails at random, then audits the books.",
        discussion: """
            There are five kinds of fault, each with a rhythm of its own:

            kills
              SIGKILL of a service, half of them while the commit of a batch is on its
              way to PostgreSQL; an immediate stop of PostgreSQL; SIGKILL of the broker,
              which comes back empty (Apache Kafka: with its log).
            hangs
              SIGSTOP of a service, of PostgreSQL with all its backends, or of the broker,
              and SIGCONT later. Some hang for longer than a relay may stay leader.
            dark
              A connection to PostgreSQL or to the broker silently drops all traffic both
              ways. Afterwards it is cut, or the delayed traffic arrives late.
            disk
              The file system of PostgreSQL's data is full. It is a tmpfs, so this process
              needs permission to mount (root). Without it, the run says so and leaves this
              fault out.
            processor
              With PROCESSOR=stripe in the environment, the store charges at a stand-in for
              Stripe, which runs in this process. It loses answers before or after it has
              charged, breaks them off, never ends them, answers with errors, is down, is
              slow, or has too much to do. All webhooks come twice and out of order.

            Buyers also subscribe, cancel, resume, change products and ask for refunds of periods. \
            They have introductory offers, redeem a code that half of them can have, share with \
            their families and leave them, agree to higher prices, decline them or do not answer, and \
            get periods that are extended. Some ask for a refund, which is approved or declined. Some \
            dispute a purchase, a first period or a renewal at their bank, and the store wins, loses or \
            waits. With Stripe, some refunds fail after they were confirmed. The report counts each of \
            these. \
            Meanwhile the store's clock is advanced, some days at a time, so that subscriptions are \
            renewed, declined, charged again and given up while everything fails.

            Half of the buyers wait four seconds for an answer, the others twelve; then they ask \
            again, at another instance if there is one. Any 5xx answer other than 502, 503 and \
            504 fails the run.

            At the end, everything that hangs or is stopped is started again. Once the store is \
            quiet, an audit compares the accepted payments with the books of all four services \
            and of the payment processor, and every subscription with its history: no period is \
            charged twice, and none is lost. With Stripe, the audit also looks into the stand-in's \
            own books: they have one charge for each payment that was made, and none for a payment \
            that failed. Whatever is not settled in time is listed. Last, the \
            books are rebuilt from the event log and compared with the live ones.

            Exits with 0 for "0 lost, 0 doubled" and "0 differences"; otherwise exits with 1 and \
            keeps the logs. The same seed, length and store give the same schedule.

            Examples:
              devstore chaos --seconds 60 --seed 7
              devstore chaos --only hangs --seed 7
              devstore chaos --only dark --only disk
              unshare -m devstore chaos        (as root: only this run sees the tmpfs)
              KAFKA_HOME=/opt/kafka devstore chaos --brokers 3
              PROCESSOR=stripe devstore chaos --seconds 60
            """
    )

    @Option(help: "For how many seconds faults are injected.")
    var seconds = 60

    @Option(help: "The seed of the schedule of faults.")
    var seed: UInt64 = UInt64.random(in: 1...9999)

    @Option(help: "How many accounts buy at once.")
    var accounts = 16

    @Option(help: "How many instances of payments, receipts and fulfillment to run.")
    var replicas = 2

    @Option(
        help:
            "Inject only this kind of fault: kills, hangs, dark, disk or processor; may be repeated."
    )
    var only: [FaultKind] = []

    @Option(
        help: "How many brokers to run; one at a time is down. Several need KAFKA_HOME."
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
                "--brokers must be 1, or from 3 to 5: one of two is no majority."
            )
        }
        if brokers > 1, !BrokerProgram.chosen.mayHaveSeveralNodes {
            throw ValidationError("Several brokers need Apache Kafka: set KAFKA_HOME.")
        }
        let processor: StoreOptions.Processor
        do { processor = try .chosen() } catch { throw ValidationError("\(error)") }
        guard processor == .stripe || !only.contains(.processor) else {
            throw ValidationError("--only processor needs PROCESSOR=stripe.")
        }
    }

    func run() async throws {
        let terminal = Terminal()
        let processor = try StoreOptions.Processor.chosen()
        var kinds = Set(only.isEmpty ? FaultKind.allCases : only)
        if processor == .sandbox { kinds.remove(.processor) }
        let names = FaultKind.allCases.filter(kinds.contains).map(\.rawValue)
        terminal.heading("Chaos with seed \(seed), \(seconds) s: \(names.joined(separator: ", "))")
        let leftOut = leaveOut(from: &kinds)
        for reason in leftOut { terminal.line("  ! \(reason)", .yellow) }
        guard !kinds.isEmpty else { throw ExitCode(1) }
        var options = StoreOptions()
        options.database = .own
        options.fsync = true
        options.hasOwnDisk = kinds.contains(.disk)
        // Otherwise a run would need minutes to fill the space of the write-ahead log.
        options.postgresSettings = ["max_wal_size=128MB"]
        options.progress = terminal.progress
        options.postgresProxies = Set(StoreService.allCases)
        options.kafkaProxy = brokers == 1
        options.replicas = [.payments: replicas, .receipts: replicas, .fulfillment: replicas]
        options.brokers = brokers
        options.partitions = Topics.partitionCount
        options.processor = processor
        // A refund that the store owes and that has failed is made again within the run.
        options.settings[.payments] = ["PROCESSOR_POLL_MAX_MS": "5000"]
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

    /// Leaves out the faults that are impossible here.
    ///
    /// - Returns: The reasons, one for each fault that is left out.
    private func leaveOut(from kinds: inout Set<FaultKind>) -> [String] {
        var reasons: [String] = []
        if kinds.contains(.disk), let reason = MemoryDisk.reasonAgainst() {
            kinds.remove(.disk)
            reasons.append("no disk is filled (0 faults of this kind): \(reason)")
        }
        if kinds.contains(.dark), brokers > 1 {
            reasons.append(
                "the line to the broker does not go dark: the proxy serves one broker only"
            )
        }
        return reasons
    }
}

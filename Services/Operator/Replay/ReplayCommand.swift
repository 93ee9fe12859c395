import ArgumentParser
import ClockAndIDs
import EventArchive
import EventTypes
import Foundation
import Kafka
import Logging
import Messaging
import OperatorCore
import Seals

/// `counterfoil replay`: sends events again, writes them to a file, or proves the books.
struct ReplayCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Sends events from the logs to their topics again, under their original ids.",
        discussion: """
            Without --execute it prints the plan and sends nothing. Consumers recognise events \
            that they have already applied and do not apply them again, so no notification and \
            no webhook is sent twice. The log is checked against its seals first. A replay that \
            was killed or interrupted continues with --resume.

            Examples:
              counterfoil replay --transaction 2175520387220000
              counterfoil replay --topic payments.transactions \\
                --since 2026-11-21T14:00:00Z --until 2026-11-21T15:00:00Z \\
                --consumer receipts --execute
              counterfoil replay --account ada --to-file ada.jsonl --execute
              counterfoil replay --from-file ada.jsonl --execute
              counterfoil replay --source kafka --topic payments.transactions \\
                --partition 0 --from-offset 100 --to-offset 200
              counterfoil replay --resume replay.journal
              counterfoil replay --verify

            --source kafka reads what the broker still has, up to where the topics ended when \
            the command began, and reports which events of the log the broker lacks. An event of \
            an unknown version is named and never read in part.

            --verify sends nothing. The services' own executables rebuild every service's books \
            from the event log, in separate databases. The result is compared with the live \
            tables in one snapshot, while the store keeps running. It exits with 1 if anything \
            differs. With --tell-console the console shows what it has found.
            """
    )

    @OptionGroup(title: "Which events") var options: ReplayOptions

    @Option(help: "Send to this consumer only: payments, receipts or fulfillment.")
    var consumer: String?

    @Option(help: "Write the events to a file, one per line as JSON, with a manifest beside it.")
    var toFile: String?

    @Option(help: "Read the events from a file that --to-file wrote, instead of the logs.")
    var fromFile: String?

    @Option(help: "The folder of the months that 'counterfoil log' has archived.")
    var archives: String?

    @OptionGroup(title: "From where") var broker: BrokerOptions

    @Option(help: "Resume the replay of this journal.")
    var resume: String?

    @Option(help: "The file for the journal (default: replay-<id>.journal in this directory).")
    var journal: String?

    @Option(help: "The most events to send per second.")
    var rate = 500

    @Flag(help: "Carry out the plan.")
    var execute = false

    @Flag(help: "Skip events that this version cannot read in full, instead of refusing.")
    var skipUnreadable = false

    @Flag(help: "Accept a log that does not match its seals.")
    var unverified = false

    @Flag(help: "Rebuild the books from the log, and compare them with the live tables.")
    var verify = false

    @OptionGroup(title: "The proof") var verification: VerificationOptions
    @OptionGroup(title: "To show the proof in the console") var telling: ConsoleTelling
    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...100_000).contains(rate) else {
            throw ValidationError("--rate must be from 1 to 100000.")
        }
        if toFile != nil, consumer != nil || fromFile != nil {
            throw ValidationError("--to-file cannot be combined with --consumer or --from-file.")
        }
        if broker.isUsed, fromFile != nil || resume != nil || verify {
            throw ValidationError(
                "--source kafka cannot be combined with --from-file, --resume or --verify."
            )
        }
        if verify,
            options.selection != ReplaySelection() || execute || toFile != nil || fromFile != nil
                || resume != nil || consumer != nil
        {
            throw ValidationError("--verify proves the whole log: select and send nothing.")
        }
        if telling.tellConsole, !verify {
            throw ValidationError("--tell-console shows a proof: it needs --verify.")
        }
        if resume != nil, options.selection != ReplaySelection() || toFile != nil || fromFile != nil
        {
            throw ValidationError("--resume follows its journal: select nothing else.")
        }
    }

    func perform() async throws {
        if verify { return try await prove() }
        if let resume {
            let kept = try ReplayJournal.read(resume)
            guard !kept.isDone else { return Console.say("The replay of \(resume) is complete.") }
            return try await send(kept, journalPath: resume)
        }
        let selection = options.selection
        try selection.check(at: StoreTime.wallClock())
        try selection.check(consumer: consumer)
        if broker.isUsed { return try await replay(selection, from: broker.range(selection)) }
        let source: ReplaySource = try fromFile.map { .file(try EventFileReader($0)) } ?? .logs
        let planner = ReplayPlanner(
            selection: selection,
            consumer: consumer,
            archives: archived(selection),
            databases: address
        )
        if case .logs = source, !unverified { try await planner.requireSealedLogs() }
        let (plan, ends) = try await planner.plan(source)
        try show(plan)
        guard plan.events > 0 else {
            throw OperatorError.nothingSelected
        }
        guard execute else {
            return Console.say("Nothing was sent: this is the plan. Add --execute to carry it out.")
        }
        guard plan.refused.isEmpty || skipUnreadable else {
            throw OperatorError(
                .failed,
                "Some events cannot be read in full by this version; nothing was sent. "
                    + "Add --skip-unreadable to skip them."
            )
        }
        if let toFile {
            return try await keep(selection, ends, in: toFile, plan.events)
        }
        let kept = newJournal(plan, selection, ends)
        switch source {
        case .logs:
            try await send(kept, journalPath: journal ?? "replay-\(kept.id).journal")
        case .file(let file):
            try await send(kept, from: file)
        }
    }

    func newJournal(
        _ plan: ReplayOutline,
        _ selection: ReplaySelection,
        _ ends: [String: String]
    ) -> ReplayJournal {
        ReplayJournal(
            id: EventID(time: StoreTime.wallClock()),
            selection: selection,
            consumer: consumer,
            rate: rate,
            total: plan.events - plan.refused.values.reduce(0, +),
            ends: ends
        )
    }

    private func prove() async throws {
        let report = try await verification.run(databases, archives: archives)
        if output.json {
            try Console.say(json: report)
        } else {
            Console.say(report.text(output.palette))
            Console.say("")
            Console.say(report.verdict)
        }
        await telling.tell(report)
        guard report.differenceCount == 0 else { throw ExitCode(1) }
    }

    func archived(_ selection: ReplaySelection) -> ReplayArchives {
        ReplayArchives(directory: archives, since: selection.since)
    }

    var address: @Sendable (String) -> DatabaseAddress {
        let databases = databases.addresses()
        return { databases.address(named: $0) }
    }

    func show(_ plan: ReplayOutline) throws {
        let answer = ReplayAnswer(plan, consumer: consumer)
        if output.json { return try Console.say(json: answer) }
        Console.say(answer.text(output.palette))
    }

    private func keep(
        _ selection: ReplaySelection,
        _ ends: [String: String],
        in path: String,
        _ total: Int
    ) async throws {
        let writer = try EventFileWriter(path)
        let progress = ReplayProgress(total: total)
        var written = 0
        for service in selection.services {
            let end = ends[service].flatMap { LogPlace(utf8: Array($0.utf8)) }
            try await ReplayReader.read(
                address(service),
                after: selection.start,
                through: end,
                archives: archived(selection)
            ) { rows in
                let chosen = rows.filter(selection.contains)
                try writer.write(chosen.map(ExactRow.init), of: service)
                written += chosen.count
                progress.show(written)
            }
        }
        let manifest = try writer.finish()
        Console.say("\(manifest.events) events are in \(path), SHA-256 \(manifest.sha256).")
    }

    // MARK: - To the topics

    private func send(_ journal: ReplayJournal, journalPath: String) async throws {
        try await sending(journal, resumption: "counterfoil replay --resume \(journalPath)") {
            runner in
            var journal = journal
            try journal.write(to: journalPath)
            return try await runner.run(&journal, journalPath: journalPath)
        }
    }

    func send(_ journal: ReplayJournal, from file: EventFileReader) async throws {
        try await sending(
            journal,
            resumption: "run the same command again; what was done is recognised"
        ) {
            try await $0.run(journal, from: file)
        }
    }

    private func sending(
        _ journal: ReplayJournal,
        resumption: String,
        _ body: @escaping @Sendable (ReplayRunner) async throws -> Bool
    ) async throws {
        let progress = ReplayProgress(total: journal.total)
        let interruption = Interruption()
        defer { interruption.end() }
        let isThrough = try await ReplayRunner.withLocks(
            of: journal.selection.services,
            databases: address,
            archives: archived(journal.selection),
            kafka: try kafka.settings(),
            progress: progress.show,
            isInterrupted: { interruption.isRaised },
            body
        )
        guard isThrough else {
            throw OperatorError(.interrupted, "Interrupted; to resume: \(resumption)")
        }
        Console.say("Done: \(journal.total) events were sent.")
    }
}

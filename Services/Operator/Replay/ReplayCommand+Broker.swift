import ArgumentParser
import EventArchive
import EventTypes
import Foundation
import Messaging
import OperatorCore

/// The options that select the broker as a replay's source.
struct BrokerOptions: ParsableArguments {
    /// The sources of events.
    enum Source: String, CaseIterable, ExpressibleByArgument {
        case log
        case kafka
    }

    @Option(help: "Read the event log in PostgreSQL (complete), or what the broker still has.")
    var source = Source.log

    @Option(help: "With --source kafka: read this partition of the topic only.")
    var partition: Int32?

    @Option(help: "With --source kafka: the first offset to read.")
    var fromOffset: Int64?

    @Option(help: "With --source kafka: the last offset to read.")
    var toOffset: Int64?

    /// Whether the broker is read.
    var isUsed: Bool { source == .kafka }

    func validate() throws {
        guard isUsed || (partition == nil && fromOffset == nil && toOffset == nil) else {
            throw ValidationError("Partitions and offsets need --source kafka.")
        }
        guard partition ?? 0 >= 0, fromOffset ?? 0 >= 0, toOffset ?? 0 >= 0 else {
            throw ValidationError("Partitions and offsets must be 0 or more.")
        }
        if let fromOffset, let toOffset, fromOffset > toOffset {
            throw ValidationError("There is nothing between \(fromOffset) and \(toOffset).")
        }
    }

    /// The part of the topics that is read.
    ///
    /// - Throws: ``OperatorError`` for offsets without exactly one topic.
    func range(_ selection: ReplaySelection) throws(OperatorError) -> BrokerRange {
        guard
            partition == nil && fromOffset == nil && toOffset == nil
                || selection.topics.count == 1
        else {
            throw OperatorError(
                .usage,
                "Partitions and offsets belong to one topic: name it with --topic."
            )
        }
        return BrokerRange(partition: partition, from: fromOffset, to: toOffset)
    }
}

extension ReplayCommand {
    /// Replays what the broker has.
    ///
    /// The broker is read once, into a file, which is then planned and sent. Messages that reach
    /// the topics meanwhile, this replay's own among them, are not read.
    func replay(_ selection: ReplaySelection, from range: BrokerRange) async throws {
        let reader = BrokerReader(
            settings: try kafka.settings(),
            databases: address,
            archives: archived(selection)
        )
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "counterfoil-\(UUID().uuidString)")
        // The events name accounts, and others use this folder too.
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: directory) }  // A leftover does no harm.
        let path = directory.appending(path: "events.jsonl").path
        let writer = try EventFileWriter(path)
        let report = try await reader.read(selection, range) { events in
            for (service, row) in events { try writer.write([ExactRow(row)], of: service) }
        }
        let manifest = try writer.finish()
        let file = try EventFileReader(path)
        let planner = ReplayPlanner(
            selection: selection,
            consumer: consumer,
            archives: archived(selection),
            databases: address
        )
        let (plan, ends) = try await planner.plan(.file(file))
        try show(plan, report)
        guard plan.events > 0 else { throw OperatorError.nothingSelected }
        guard execute else {
            return Console.say("Nothing was sent: this is the plan. Add --execute to carry it out.")
        }
        guard report.unreadable.isEmpty || skipUnreadable else {
            throw OperatorError(
                .failed,
                "Nothing was sent: \(report.unreadable[0]). Add --skip-unreadable to skip such events."
            )
        }
        guard report.partitions.allSatisfy(\.isWhole) else {
            throw OperatorError(
                .failed,
                "Nothing was sent: the broker did not return all that it has confirmed. The event log "
                    + "is complete: use --source log."
            )
        }
        guard let toFile else {
            // This is checked before anything is sent: only the log says which event of a key is
            // the newest.
            let compacted = Topics.all.filter(\.isCompacted).map(\.name)
            if let topic = compacted.first(where: { plan.counts[$0] != nil }) {
                throw OperatorError(
                    .failed,
                    "Nothing was sent: \(topic) keeps only the newest message of each key. Replay it "
                        + "from the log, and select the other topics with --topic."
                )
            }
            return try await send(newJournal(plan, selection, ends), from: file)
        }
        try EventFileManifest.move(path, to: toFile)
        Console.say("\(manifest.events) events are in \(toFile), SHA-256 \(manifest.sha256).")
    }

    private func show(_ plan: ReplayOutline, _ report: BrokerReport) throws {
        let answer = ReplayAnswer(plan, consumer: consumer, broker: report)
        if output.json { return try Console.say(json: answer) }
        Console.say(report.text(output.palette))
        Console.say(answer.text(output.palette))
    }
}

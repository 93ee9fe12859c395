import EventTypes
import Logging
import OperatorCore

/// The jobs of this console: long work that goes on without the page that began it.
///
/// One job of a kind is under way at a time. Its record is written before and after each step, so a
/// console that starts again knows how far it came.
actor JobBoard {
    private struct Work {
        let id: EventID
        let meter: JobMeter
        let task: Task<Void, Never>
    }

    let tools: any JobWork
    /// The number of records that this version cannot read; their files stay as they are.
    let unreadableCount: Int
    private let folder: JobFolder
    private let now: @Sendable () -> MachineTime
    private let logger: Logger
    private var records: [JobRecord]
    private var working: [JobRecord.Kind: Work] = [:]
    private var isShuttingDown = false

    /// Makes a board of the jobs in a folder; what was under way there is interrupted.
    init(
        _ tools: any JobWork,
        in folder: JobFolder,
        now: @escaping @Sendable () -> MachineTime,
        logger: Logger
    ) {
        self.tools = tools
        self.folder = folder
        self.now = now
        self.logger = logger
        let (kept, unreadable) = folder.records()
        unreadableCount = unreadable.count
        for name in unreadable {
            logger.error("the record of a job cannot be read", metadata: ["file": "\(name)"])
        }
        records = kept.map { record in
            guard record.state.isWorking else { return record }
            var record = record
            record.state = .interrupted
            // A page that is open sees that it has changed.
            record.version += 1
            return record
        }
    }

    /// The jobs of all kinds, the newest first.
    var allJobs: [JobRecord] { records }

    /// The jobs of a kind, the newest first.
    func jobs(of kind: JobRecord.Kind) -> [JobRecord] { records.filter { $0.kind == kind } }

    /// A job of any kind; `nil` if there is none.
    func job(_ id: EventID) -> JobRecord? { records.first { $0.id == id } }

    /// A job; `nil` if there is none.
    func job(_ id: EventID, of kind: JobRecord.Kind) -> JobRecord? {
        records.first { $0.id == id && $0.kind == kind }
    }

    /// The progress of a job; empty if it is not under way.
    func progress(of record: JobRecord) -> [String: NowField] {
        guard let work = working[record.kind], work.id == record.id else { return [:] }
        return work.meter.fields
    }

    /// Begins a job: the dry run of a replay or a raise, a proof, or a reconciliation.
    ///
    /// - Parameters:
    ///   - record: The new record.
    ///   - connection: A connection to `payments`, which a raise needs.
    /// - Returns: The record.
    /// - Throws: ``ConsoleProblem`` that says who has one under way, or that the record cannot be
    ///   written.
    func begin(_ record: JobRecord, over connection: StoreConnection? = nil) throws -> JobRecord {
        try requireIdle(record.kind)
        try add(record)
        let meter = JobMeter()
        let tools = tools
        switch record.kind {
        case .replay:
            guard let order = record.order else { return record }
            start(record, meter) { record in
                record.plan = try await tools.plan(order)
                record.state = .planned
            }
        case .proof:
            start(record, meter) { record in
                var report = try await tools.prove(meter)
                report.keep(differences: JobRecord.differencesMax)
                record.report = report
                record.state = .done
            }
        case .reconciliation:
            start(record, meter) { record in
                record.reconciliation = try await tools.reconcile(meter)
                record.state = .done
            }
        case .raise:
            guard let work = record.raise, let connection else { return record }
            start(record, meter) { record in
                let counted = try await tools.count(work, over: connection, meter)
                record.raise?.counted = counted
                record.state = .planned
            }
        }
        return record
    }

    /// Keeps a proof that was made elsewhere; one that is known stays as it is.
    func take(_ proof: ProofHandover, by decision: JobRecord.Decision) throws(ConsoleProblem) {
        guard job(proof.id) == nil else { return }
        try add(JobRecord(proof, by: decision))
    }

    /// Begins to raise those who were counted, or goes on with it.
    ///
    /// - Parameters:
    ///   - id: The raise.
    ///   - isBegun: Whether it was begun before.
    ///   - decision: Who decides it, and why; the books keep the reason.
    ///   - connection: A connection to `payments`, with the token of that person.
    /// - Throws: ``ConsoleProblem`` if it is not the time for that.
    func raise(
        _ id: EventID,
        isBegun: Bool,
        by decision: JobRecord.Decision,
        over connection: StoreConnection
    ) throws {
        guard var record = job(id, of: .raise), let work = record.raise,
            isBegun ? record.canResume : record.state == .planned
        else {
            throw ConsoleProblem(
                409,
                "Nothing was done: this raise cannot go on now",
                "It may have been begun in another window. Open it again.",
                back: JobRecord.Kind.raise.back
            )
        }
        try requireIdle(.raise)
        record.state = .running
        record.problem = nil
        record.begunAt = record.begunAt ?? decision.at
        record.decisions.append(decision)
        try keep(record)
        log(decision, record)
        let meter = JobMeter(total: work.total)
        meter.note(work.done)
        let tools = tools
        start(record, meter) { record in
            let raise = work.raise(because: decision.act.reason, isDryRun: false)
            var latest = work
            record.state = .stopped
            while !meter.isAskedToStop {
                let page = try await tools.page(of: raise, after: latest.place, over: connection)
                latest.counts = latest.counts + page.counts
                latest.place = page.next ?? latest.place
                record.raise = latest
                meter.note(latest.done)
                guard page.next != nil else {
                    record.state = .done
                    return
                }
                // A console that is killed goes on after this page.
                do { try await self.keep(latest, of: id) } catch {
                    throw ConsoleProblem.unwritablePlace
                }
            }
        }
    }

    /// Begins to send what a replay has planned, or goes on with it.
    ///
    /// - Throws: ``ConsoleProblem`` if it is not the time for that.
    func send(_ id: EventID, _ step: ReplayStep, by decision: JobRecord.Decision) throws {
        guard var record = job(id, of: .replay), let order = record.order, let plan = record.plan,
            step == .goOn ? record.canResume : record.state == .planned
        else {
            throw ConsoleProblem(
                409,
                "Nothing was done: this replay cannot be sent now",
                "It may have been begun in another window. Open it again.",
                back: JobRecord.Kind.replay.back
            )
        }
        guard plan.refused.isEmpty || step != .begin(skippingUnreadable: false) else {
            throw ConsoleProblem(
                409,
                "Nothing was done: some events cannot be read in full by this version",
                "Say that they are skipped, or replay with a version that reads them.",
                back: JobRecord.Kind.replay.back
            )
        }
        try requireIdle(.replay)
        let path = folder.journalPath(of: id)
        // Without its journal a replay begins anew; consumers recognise what they have applied.
        let kept = step == .goOn ? try? ReplayJournal.read(path) : nil
        let journal =
            kept
            ?? ReplayJournal(
                id: id,
                selection: order.selection,
                consumer: order.consumer,
                rate: order.rate,
                total: plan.total,
                ends: plan.ends
            )
        // A console that was killed may have kept only in the journal that it was through.
        record.state = journal.isDone ? .done : .running
        record.problem = nil
        record.begunAt = record.begunAt ?? decision.at
        record.decisions.append(decision)
        try keep(record)
        log(decision, record)
        guard !journal.isDone else { return }
        let meter = JobMeter(total: plan.total)
        meter.note(journal.sent)
        let tools = tools
        start(record, meter) { record in
            let isThrough = try await tools.send(order, journal, path, meter)
            record.state = isThrough ? .done : .stopped
        }
    }

    /// Stops a job that is under way; a replay or a raise can go on later.
    func stop(_ id: EventID, of kind: JobRecord.Kind, by decision: JobRecord.Decision) throws {
        guard let work = working[kind], work.id == id, var record = job(id, of: kind) else {
            throw ConsoleProblem(
                409,
                "Nothing was done: this job is not under way",
                "It has ended meanwhile. Open it again.",
                back: kind.back
            )
        }
        record.decisions.append(decision)
        try keep(record)
        log(decision, record)
        end(work, record)
    }

    /// Stops all work, and waits until it has stopped.
    func shutDown() async {
        isShuttingDown = true
        let all = Array(working.values)
        for work in all {
            guard let record = records.first(where: { $0.id == work.id }) else { continue }
            end(work, record)
            // A page takes as long as the store does. It is done again, which raises nothing twice.
            if record.kind == .raise { work.task.cancel() }
        }
        // A long statement that only reads is not waited for.
        for work in all where job(work.id)?.kind != .reconciliation { await work.task.value }
    }

    /// Ends a replay between two batches, and a raise between two pages, where it can go on later.
    private func end(_ work: Work, _ record: JobRecord) {
        work.meter.askToStop()
        if record.kind.isReading || record.state == .planning { work.task.cancel() }
    }

    private func requireIdle(_ kind: JobRecord.Kind) throws(ConsoleProblem) {
        guard let work = working[kind], let other = job(work.id, of: kind) else { return }
        let (name, decision) = (kind.rawValue, other.decisions.last)
        let words = decision.map {
            "\($0.act.decidedBy) \($0.words) at \(PlainWords.second($0.time))."
        }
        throw ConsoleProblem(
            409,
            "A \(name) is under way",
            "\(words ?? "") Wait until it ends, or stop it.",
            back: ConsoleProblem.Back(
                path: "/\(name)s/\(other.id)",
                words: "To the \(name) that is under way"
            )
        )
    }

    /// Logs a decision with its reason, because the record does not stay for ever.
    private func log(_ decision: JobRecord.Decision, _ record: JobRecord) {
        logger.info(
            "an administrator decided about a job",
            metadata: [
                "job": "\(record.id)", "job.kind": "\(record.kind.rawValue)",
                "administrator": "\(decision.act.decidedBy)", "decision": "\(decision.words)",
                "reason": "\(decision.act.reason?.rawValue ?? "")",
            ]
        )
    }

    /// Writes a new record, and shows it.
    private func add(_ record: JobRecord) throws(ConsoleProblem) {
        records.insert(record, at: 0)
        do { try keep(record) } catch {
            records.removeFirst()
            throw error
        }
        if let decision = record.decisions.first { log(decision, record) }
        prune()
    }

    /// Forgets the jobs that are too many, with their files.
    private func prune() {
        for record in JobRecord.surplus(of: records) {
            do {
                try folder.remove(record.id)
                records.removeAll { $0.id == record.id }
            } catch {
                logger.warning(
                    "the files of a job could not be removed",
                    metadata: ["job": "\(record.id)", "error": "\(error)"]
                )
            }
        }
    }

    /// Writes how far a raise is.
    ///
    /// The page that follows it shows the numbers, and is not loaded again for that.
    private func keep(_ work: RaiseWork, of id: EventID) throws(ConsoleProblem) {
        guard var record = job(id, of: .raise) else { return }
        record.raise = work
        try keep(record, isNews: false)
    }

    /// Writes a record and shows it.
    private func keep(_ record: JobRecord, isNews: Bool = true) throws(ConsoleProblem) {
        var record = record
        if isNews { record.version += 1 }
        do {
            try folder.write(record)
        } catch {
            logger.error(
                "the record of a job could not be written",
                metadata: ["error": "\(error)"]
            )
            throw .unwritableFolder
        }
        guard let index = records.firstIndex(where: { $0.id == record.id }) else { return }
        records[index] = record
    }

    /// Works in the background, and writes how it ended.
    private func start(
        _ record: JobRecord,
        _ meter: JobMeter,
        _ work: @escaping @Sendable (inout JobRecord) async throws -> Void
    ) {
        let (id, kind) = (record.id, record.kind)
        let task = Task {
            var done = record
            do {
                try await work(&done)
            } catch is CancellationError {
                done.state = .stopped
            } catch {
                done.state = meter.isAskedToStop ? .stopped : .failed
                done.problem = Self.words(for: error)
            }
            finish(done, of: kind)
        }
        working[kind] = Work(id: id, meter: meter, task: task)
    }

    /// The reason why a job could not go on.
    private static func words(for error: any Error) -> String {
        if let problem = error as? ConsoleProblem { return "\(problem.title). \(problem.detail)" }
        return PlainWords.withoutCommands((error as? OperatorError)?.description ?? "\(error)")
    }

    /// Notes how a job ended.
    private func finish(_ done: JobRecord, of kind: JobRecord.Kind) {
        working[kind] = nil
        guard var record = job(done.id, of: kind) else { return }
        record.state = isShuttingDown && done.state == .stopped ? .interrupted : done.state
        record.plan = done.plan
        record.raise = done.raise
        record.report = done.report
        record.reconciliation = done.reconciliation
        record.problem = done.state == .failed ? done.problem : nil
        // A record that cannot be written stays as it was: it will be interrupted, and can go on.
        do { try keep(record) } catch {
            guard let index = records.firstIndex(where: { $0.id == record.id }) else { return }
            records[index] = record
        }
        logger.info(
            "a job ended",
            metadata: [
                "job": "\(record.id)", "job.kind": "\(kind.rawValue)",
                "job.state": "\(record.state.rawValue)",
            ]
        )
    }
}

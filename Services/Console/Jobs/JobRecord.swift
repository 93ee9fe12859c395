import EventTypes
import OperatorCore
import StoreAPI

/// Long work that an administrator began; its record is kept in a file.
struct JobRecord: Codable, Sendable {
    /// The kinds of long work.
    enum Kind: String, CaseIterable, Codable, Sendable {
        /// Sending events of the logs again.
        case replay
        /// Rebuilding the books from the logs, and comparing them.
        case proof
        /// Raising the price of those who subscribe already.
        case raise
        /// Comparing the books of the services with each other.
        case reconciliation

        /// Whether it has no dry run, and changes nothing; one that was cut off has to be begun again.
        var isReading: Bool { self == .proof || self == .reconciliation }

        /// The list of the kind as a place to go on from.
        var back: ConsoleProblem.Back {
            ConsoleProblem.Back(path: "/\(rawValue)s", words: "Back to the \(rawValue)s")
        }
    }

    /// The state of a job.
    enum State: String, Codable, Sendable {
        /// The dry run of a replay reads the logs, or that of a raise counts subscriptions.
        case planning
        /// The dry run is through; nothing was changed.
        case planned
        /// It is under way.
        case running
        /// Somebody stopped it.
        case stopped
        /// The console stopped while it was under way.
        case interrupted
        /// It could not go on.
        case failed
        /// It is through.
        case done

        /// Whether work is under way.
        var isWorking: Bool { self == .planning || self == .running }
    }

    /// A decision of an administrator about the job.
    struct Decision: Codable, Hashable, Sendable {
        let words: String
        let act: Act
        /// The milliseconds since 1970-01-01 00:00 UTC.
        let at: Int64

        /// The time of the decision.
        var time: MachineTime { MachineTime(millisecondsSinceEpoch: at) }
    }

    /// The most differences that are kept; the numbers count all of them.
    static let differencesMax = 500

    /// The most differences of a kind that a reconciliation keeps; the numbers count all of them.
    static let differencesOfAKindMax = 20

    /// The most jobs that are kept, beside those that can go on.
    static let countMax = 100

    let id: EventID
    let kind: Kind
    var state: State
    /// The decisions, in order; the first one began the job.
    var decisions: [Decision]
    /// The reason why it could not go on.
    var problem: String?
    /// The events that a replay sends.
    var order: ReplayOrder?
    /// The dry run of a replay.
    var plan: ReplayPlan?
    /// The prices that a raise raises, and how far it is.
    var raise: RaiseWork?
    /// The milliseconds since 1970-01-01 00:00 UTC at which a replay began to send, or a raise to raise.
    var begunAt: Int64?
    /// The findings of a proof.
    var report: VerificationReport?
    /// The findings of a reconciliation.
    var reconciliation: Reconciliation?
    /// The number of changes of this record.
    var version = 0

    /// Begins a job.
    init(
        _ kind: Kind,
        id: EventID,
        by decision: Decision,
        order: ReplayOrder? = nil,
        raise: RaiseWork? = nil
    ) {
        self.id = id
        self.kind = kind
        self.order = order
        self.raise = raise
        state = kind.isReading ? .running : .planning
        decisions = [decision]
    }

    /// Makes the record of a proof that was made elsewhere, and is through.
    init(_ proof: ProofHandover, by decision: Decision) {
        self.init(.proof, id: proof.id, by: decision)
        state = .done
        var report = proof.report
        report.keep(differences: Self.differencesMax)
        self.report = report
    }

    /// Whether a replay or a raise has begun to change something, and has something left.
    var canResume: Bool {
        !kind.isReading && begunAt != nil
            && [.stopped, .interrupted, .failed].contains(state)
    }

    /// The jobs that are too many: the oldest ones that are over.
    ///
    /// A job that is under way or can go on is never one of them. Old plans that sent nothing go
    /// first.
    ///
    /// - Parameter records: The jobs, the newest first.
    /// - Returns: The jobs to forget.
    static func surplus(of records: [JobRecord]) -> [JobRecord] {
        let over = records.reversed().filter { !$0.state.isWorking && !$0.canResume }
        let old = Set(records.dropFirst(countMax / 2).map(\.id))
        let plans = over.filter { $0.state == .planned && old.contains($0.id) }
        let others = over.filter { !($0.state == .planned && old.contains($0.id)) }
        return Array((plans + others).prefix(max(0, records.count - countMax)))
    }
}

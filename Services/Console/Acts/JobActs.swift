import EventTypes
import OperatorCore

/// The decisions about replays, proofs, reconciliations and raises as a list of acts.
///
/// Pure.
enum JobActs {
    /// A page of the decisions, newest first.
    ///
    /// - Parameters:
    ///   - query: The acts to list; a job has neither an account nor a product.
    ///   - records: The records of all jobs.
    /// - Returns: The page.
    static func page(_ query: ActQuery, of records: [JobRecord]) -> ActPage {
        let before = query.before.flatMap { ActPlace($0) } ?? .end
        let found = records.flatMap(acts(of:))
            .filter { $0.place < before }
            .filter {
                query.administrator.isEmpty || "\($0.act.act.decidedBy)" == query.administrator
            }
            .sorted { $0.place > $1.place }
        let chosen = query.key.isEmpty ? found.map(\.act) : []
        let shown = Array(chosen.prefix(query.limit))
        return ActPage(
            acts: shown,
            next: chosen.count > shown.count ? shown.last?.place : nil,
            archivedMonth: nil
        )
    }

    private static func acts(
        of record: JobRecord
    ) -> [(place: ActPlace, act: RecordedAct)] {
        record.decisions.enumerated().map { index, decision in
            let place = ActPlace(
                micros: decision.at * 1000,
                rank: Int64(index),
                id: number(of: record.id)
            )
            let act = RecordedAct(
                act: decision.act,
                time: "\(decision.time)",
                subject: subject(of: record),
                words: "\(record.kind.rawValue): \(decision.words)",
                key: "",
                place: "\(place)"
            )
            return (place, act)
        }
    }

    private static func subject(of record: JobRecord) -> RecordedAct.Subject {
        switch record.kind {
        case .replay: .replay(record.id)
        case .proof: .proof(record.id)
        case .raise: .raise(record.id)
        case .reconciliation: .reconciliation(record.id)
        }
    }

    /// A number of a job, by which jobs of one moment have an order; the end of an id is random.
    private static func number(of id: EventID) -> Int64 {
        (9..<16).reduce(Int64(0)) { $0 << 8 | Int64(id.bytes[$1]) }
    }
}

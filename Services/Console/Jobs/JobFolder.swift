import EventTypes
import Foundation

/// The files of jobs: a record of each, and the journal of each replay that has begun.
struct JobFolder: Sendable {
    /// The most jobs that are kept.
    static let countMax = 100
    private static let ending = ".job"

    let folder: StateFolder

    /// The records, the newest first.
    func records() -> [JobRecord] {
        folder.names(ending: Self.ending).reversed().compactMap {
            folder.read(JobRecord.self, from: $0)
        }
    }

    /// Writes a record, and forgets the oldest ones.
    func write(_ record: JobRecord) throws {
        try folder.write(record, to: "\(record.id)\(Self.ending)")
        for name in folder.names(ending: Self.ending).dropLast(Self.countMax) {
            try folder.remove(name)
            try folder.remove(String(name.dropLast(Self.ending.count)) + ".journal")
        }
    }

    /// The path of a replay's journal.
    func journalPath(of id: EventID) -> String { folder.path(of: "\(id).journal") }
}

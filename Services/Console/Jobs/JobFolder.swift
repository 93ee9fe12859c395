import EventTypes

/// The files of jobs: a record of each, and the journal of each replay that has begun.
struct JobFolder: Sendable {
    private static let ending = ".job"

    let folder: StateFolder

    /// The records, the newest first.
    func records() -> [JobRecord] {
        folder.names(ending: Self.ending).reversed().compactMap {
            folder.read(JobRecord.self, from: $0)
        }
    }

    /// Writes a record.
    func write(_ record: JobRecord) throws {
        try folder.write(record, to: "\(record.id)\(Self.ending)")
    }

    /// Removes a record and its journal.
    func remove(_ id: EventID) throws {
        try folder.remove("\(id)\(Self.ending)")
        try folder.remove("\(id).journal")
    }

    /// The path of a replay's journal.
    func journalPath(of id: EventID) -> String { folder.path(of: "\(id).journal") }
}

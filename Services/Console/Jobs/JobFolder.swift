import EventTypes

/// The files of jobs: a record of each, and the journal of each replay that has begun.
struct JobFolder: Sendable {
    private static let ending = ".job"

    let folder: StateFolder

    /// The records, the newest first, and the files that this version cannot read.
    func records() -> (records: [JobRecord], unreadable: [String]) {
        var (records, unreadable): ([JobRecord], [String]) = ([], [])
        for name in folder.names(ending: Self.ending).reversed() {
            if let record = folder.read(JobRecord.self, from: name) {
                records.append(record)
            } else {
                unreadable.append(name)
            }
        }
        return (records, unreadable)
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

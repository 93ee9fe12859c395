public import EventTypes
public import Messaging
public import Postgres
public import Seals

extension EventLog {
    /// Reads rows after a place, both from files and from the database.
    ///
    /// - Parameters:
    ///   - place: The last row that was read; `LogPlace.start` to begin with the oldest.
    ///   - limit: The largest number of rows.
    ///   - part: The part of the database's rows to read.
    ///   - types: The types of events to read; all if empty.
    ///   - archives: The rows that were moved from the database to files; `nil` if there are none.
    ///   - connection: The session. If it has begun a snapshot, every call sees the same log.
    /// - Returns: The rows, in the order of their places; none at the end of the log.
    /// - Throws: `PostgresError`; ``ArchiveError`` for a file that cannot be read.
    public static func rows(
        after place: LogPlace,
        limit: Int,
        part: Part = .settled,
        types: Set<EventType> = [],
        archives: ArchivedRows?,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxRow] {
        let stored = try exactRows(
            after: place,
            limit: limit,
            part: part,
            types: types,
            on: connection
        )
        guard let archives else { return stored.map(\.row) }
        return try archives.merged(with: stored, after: place, limit: limit, types: types)
            .map(\.row)
    }
}

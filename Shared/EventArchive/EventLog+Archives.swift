public import EventTypes
public import Messaging
public import Postgres
public import Seals

extension EventLog {
    /// Reads rows after a place, those that are in files among those of the database.
    ///
    /// - Parameters:
    ///   - cursor: The last row that was read; `OutboxCursor.start` for the oldest.
    ///   - limit: How many rows at most.
    ///   - part: Which rows of the database.
    ///   - types: Events of these types only; all of them if none is named.
    ///   - archives: The rows that have left the database for files; `nil` if none have.
    ///   - connection: The session; in one that has begun a snapshot, every call sees one log.
    /// - Returns: The rows, in the order of their places; none at the end of the log.
    /// - Throws: `PostgresError`; ``ArchiveError`` of a file that cannot be read.
    public static func rows(
        after cursor: OutboxCursor,
        limit: Int,
        part: Part = .settled,
        types: Set<EventType> = [],
        archives: ArchivedRows?,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxRow] {
        let stored = try exactRows(
            after: cursor,
            limit: limit,
            part: part,
            types: types,
            on: connection
        )
        guard let archives else { return stored.map(\.row) }
        return try archives.merged(with: stored, after: cursor, limit: limit, types: types)
            .map(\.row)
    }
}

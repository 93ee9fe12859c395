import EventTypes
import Messaging
public import Postgres
public import Seals
import Synchronization

/// The rows of a service's event log that were moved from its database to files.
///
/// Together with the rows of the database they are the log, and `EventLog` merges both in one
/// order. Each file is read once from its beginning to its end as the reader of the log advances.
public final class ArchivedRows: Sendable {
    /// A file, and those of its rows that were read but not returned yet.
    private final class Source {
        let file: EventFileReader
        let service: String
        let first: LogPlace
        let last: LogPlace
        private var cursor: EventFileCursor?
        private var rows: ArraySlice<ExactRow> = []
        private var isAtEnd = false

        init(_ file: EventFileReader, _ archived: ArchivedMonth) throws {
            guard let first = archived.first, let last = archived.last else {
                throw ArchiveError(.eventFile, "\(file.path) does not say where it begins.")
            }
            self.file = file
            service = archived.service
            self.first = first
            self.last = last
        }

        /// The wanted rows after a place, in order, up to a limit.
        func rows(
            after place: LogPlace,
            limit: Int,
            _ isWanted: (ExactRow) -> Bool
        ) throws -> ArraySlice<ExactRow> {
            rows = rows.drop { $0.row.place <= place }
            while rows.count < limit, !isAtEnd {
                let cursor = try self.cursor ?? file.open()
                self.cursor = cursor
                let next = try cursor.next()
                guard !next.isEmpty else {
                    isAtEnd = true
                    break
                }
                for line in next where line.service != service {
                    throw ArchiveError(
                        .eventFile,
                        "\(file.path) is of \(service) and holds an event of \(line.service)."
                    )
                }
                rows += next.map(\.row).filter { $0.row.place > place && isWanted($0) }
            }
            return rows.prefix(limit)
        }

        /// Goes back to the beginning of the file.
        func rewind() {
            cursor = nil
            rows = []
            isAtEnd = false
        }
    }

    private struct State {
        let sources: [Source]
        var place = LogPlace.start
        var types: Set<EventType> = []
    }

    private let state: Mutex<State>
    /// The number of events in the files.
    public let count: Int

    /// Makes rows from files that were checked.
    ///
    /// - Throws: ``ArchiveError`` if one of the files is not that of a month.
    init(_ files: [EventFileReader]) throws {
        let sources = try files.map { file in
            guard let month = file.manifest.month else {
                throw ArchiveError(.eventFile, "\(file.path) is no month of a log.")
            }
            return try Source(file, month)
        }
        count = files.reduce(0) { $0 + $1.manifest.events }
        state = Mutex(State(sources: sources.sorted { $0.first < $1.first }))
    }

    /// Finds the files of the months that were moved from a service's database.
    ///
    /// - Parameters:
    ///   - directory: The folder of the files; `nil` if none is given.
    ///   - service: The service.
    ///   - connection: A session of its database.
    /// - Returns: Their rows; `nil` if no month was moved.
    /// - Throws: ``ArchiveError`` that names a file that is missing or different.
    public static func find(
        in directory: String?,
        of service: String,
        on connection: isolated PostgresConnection
    ) throws -> ArchivedRows? {
        let dropped = try LogArchiveStore.dropped(on: connection)
        guard !dropped.isEmpty else { return nil }
        guard let directory else {
            throw ArchiveError(
                .archiveMissing,
                "The events of \(service) of \(dropped.map(\.month.description).joined(separator: ", "))"
                    + " are in archives (\(dropped.map(\.fileName).joined(separator: ", "))); say in "
                    + "which folder: --archives."
            )
        }
        return try ArchivedRows(dropped.map { try file(of: $0, service, in: directory) })
    }

    /// The file of a month that was moved.
    ///
    /// - Throws: ``ArchiveError`` if the file is missing, incomplete, or a different one.
    public static func file(
        of dropped: DroppedMonth,
        _ service: String,
        in directory: String
    ) throws -> EventFileReader {
        let path = directory + "/" + dropped.fileName
        let file = try EventFileReader(path)
        // A file with the same events compressed again is equally good, because the digest of their
        // seal decides.
        guard let archived = file.manifest.month, archived.service == service,
            archived.month == dropped.month, archived.head == dropped.head,
            Int64(file.manifest.events) == dropped.rowCount
        else {
            throw ArchiveError(
                .archiveMissing,
                "\(path) is not the file that \(service) of \(dropped.month) left for: that had "
                    + "\(dropped.rowCount) events up to the seal \(dropped.head)."
            )
        }
        return file
    }

    /// Merges rows of the files with those of the database.
    ///
    /// - Parameters:
    ///   - stored: The first rows of the database after the place, in order; as many as the limit
    ///     if there are more.
    ///   - place: The place. If it is lower than in the last call, the files are read from their
    ///     beginning.
    ///   - limit: The largest number of rows.
    ///   - types: The types of events to read; all if empty.
    /// - Returns: The first rows of both, in order.
    /// - Throws: ``ArchiveError``.
    func merged(
        with stored: [ExactRow],
        after place: LogPlace,
        limit: Int,
        types: Set<EventType>
    ) throws -> [ExactRow] {
        try state.withLock { state in
            if place < state.place || types != state.types {
                for source in state.sources { source.rewind() }
            }
            state.place = place
            state.types = types
            var rows = stored
            for source in state.sources where source.last > place {
                // A file that begins after all requested rows is not opened yet.
                if rows.count >= limit, rows[limit - 1].row.place < source.first { break }
                let archived = try source.rows(after: place, limit: limit) { row in
                    types.isEmpty || types.contains(row.row.event.type)
                }
                guard !archived.isEmpty else { continue }
                rows = Array(
                    (rows + archived).sorted { $0.row.place < $1.row.place }.prefix(limit)
                )
            }
            return rows
        }
    }
}

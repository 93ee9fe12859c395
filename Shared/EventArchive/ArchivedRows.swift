import EventTypes
import Messaging
public import Postgres
public import Seals
import Synchronization

/// The rows of a service's event log that are in files and not in its database any more.
///
/// Together with what is there, they are the log: `EventLog` puts both in one order. It reads each
/// file from its beginning to its end, as the reader of the log goes on.
public final class ArchivedRows: Sendable {
    /// A file, and the rows of it that were read and not asked for yet.
    private final class Source {
        let file: EventFileReader
        let service: String
        let first: OutboxCursor
        let last: OutboxCursor
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

        /// The rows after a place that are wanted, in their order, and no more than the limit.
        func rows(
            after place: OutboxCursor,
            limit: Int,
            _ isWanted: (ExactRow) -> Bool
        ) throws -> ArraySlice<ExactRow> {
            rows = rows.drop { $0.row.cursor <= place }
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
                rows += next.map(\.row).filter { $0.row.cursor > place && isWanted($0) }
            }
            return rows.prefix(limit)
        }

        /// Begins again.
        func rewind() {
            cursor = nil
            rows = []
            isAtEnd = false
        }
    }

    private struct State {
        let sources: [Source]
        var place = OutboxCursor.start
        var types: Set<EventType> = []
    }

    private let state: Mutex<State>
    /// How many events the files hold.
    public let count: Int

    /// Takes files that were checked.
    ///
    /// - Throws: ``ArchiveError`` if one of them is of no month.
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

    /// Finds the files of the months that have left a service's database.
    ///
    /// - Parameters:
    ///   - directory: Where they are; `nil` if none is given.
    ///   - service: The service.
    ///   - connection: A session of its database.
    /// - Returns: Their rows; `nil` if no month has left.
    /// - Throws: ``ArchiveError`` that names a file which is not there, or is another one.
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

    /// The file of a month that has left.
    ///
    /// - Throws: ``ArchiveError`` if it is not there, not whole, or another one.
    public static func file(
        of dropped: DroppedMonth,
        _ service: String,
        in directory: String
    ) throws -> EventFileReader {
        let path = directory + "/" + dropped.fileName
        let file = try EventFileReader(path)
        // The same events compressed anew are as good: what counts is the digest they were sealed with.
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

    /// Puts rows of the files among those of the database.
    ///
    /// - Parameters:
    ///   - stored: The first rows of the database after the place, in their order, as many as the limit
    ///     if there are more.
    ///   - cursor: The place. A lower one than that of the last call begins the files again.
    ///   - limit: How many rows at most.
    ///   - types: Events of these types only; all of them if none is named.
    /// - Returns: The first rows of both, in their order.
    /// - Throws: ``ArchiveError``.
    func merged(
        with stored: [ExactRow],
        after cursor: OutboxCursor,
        limit: Int,
        types: Set<EventType>
    ) throws -> [ExactRow] {
        try state.withLock { state in
            if cursor < state.place || types != state.types {
                for source in state.sources { source.rewind() }
            }
            state.place = cursor
            state.types = types
            var rows = stored
            for source in state.sources where source.last > cursor {
                // A file that begins behind all that is asked for is not opened yet.
                if rows.count >= limit, rows[limit - 1].row.cursor < source.first { break }
                let archived = try source.rows(after: cursor, limit: limit) { row in
                    types.isEmpty || types.contains(row.row.event.type)
                }
                guard !archived.isEmpty else { continue }
                rows = Array(
                    (rows + archived).sorted { $0.row.cursor < $1.row.cursor }.prefix(limit)
                )
            }
            return rows
        }
    }
}

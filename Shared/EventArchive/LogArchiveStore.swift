import EventTypes
public import Messaging
public import Postgres
public import Seals

/// A month of a service's event log, in the database or in a file.
public struct LoggedMonth: Hashable, Sendable {
    /// The month.
    public let month: LogMonth
    /// The number of rows; PostgreSQL's estimate if ``dropped`` is `nil`.
    public let rows: Int64
    /// The size in the database, including the indexes.
    public let bytes: Int64
    /// Set if the month was moved to a file.
    public let dropped: DroppedMonth?
}

/// The SQL of the months of the event log: those in the database, those in files, and moving them.
public enum LogArchiveStore {
    /// The months that were moved to files.
    ///
    /// - Throws: `PostgresError`; `SealError` if a row is invalid.
    public static func dropped(
        on connection: isolated PostgresConnection
    ) throws -> [DroppedMonth] {
        try SealStore.dropped(from: SealedLog.outboxName, on: connection)
    }

    /// All months in the database or in files, oldest first, without those that never had a row.
    public static func months(
        on connection: isolated PostgresConnection
    ) throws -> [LoggedMonth] {
        let dropped = try self.dropped(on: connection)
        let rows = try connection.query(
            """
            SELECT substr(part.relname, 8), greatest(part.reltuples, 0)::bigint,
                pg_total_relation_size(part.oid)
            FROM pg_inherits JOIN pg_class AS part ON part.oid = inhrelid
            WHERE inhparent = 'outbox'::regclass AND part.relname ~ '^outbox_[0-9]{4}_[0-9]{2}$'
            """
        )
        var months = try rows.compactMap { row -> LoggedMonth? in
            let (name, estimate, bytes) = try row.decode(String.self, Int64.self, Int64.self)
            guard let month = LogMonth(name.replacing("_", with: "-")) else { return nil }
            return LoggedMonth(month: month, rows: estimate, bytes: bytes, dropped: nil)
        }
        months += dropped.map {
            LoggedMonth(month: $0.month, rows: $0.rowCount, bytes: 0, dropped: $0)
        }
        return months.sorted { $0.month < $1.month }
    }

    /// The rows of one month after a place.
    ///
    /// - Parameters:
    ///   - month: The month, which must be over.
    ///   - place: The last row that was read.
    ///   - limit: The largest number of rows.
    ///   - connection: The session.
    /// - Returns: The rows, in the order of the log.
    /// - Throws: `PostgresError`.
    public static func rows(
        of month: LogMonth,
        after place: LogPlace,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [ExactRow] {
        let first = "\(month)-01T00:00:00Z"
        return try EventLog.exactRows(
            in: connection.query(
                """
                SELECT \(unsafe: EventLog.columns) FROM outbox
                WHERE time >= \(first)::timestamptz
                    AND time < (
                        (\(first)::timestamptz AT TIME ZONE 'UTC' + interval '1 month')
                        AT TIME ZONE 'UTC'
                    )
                    AND (xid, position) > (\(place.xid), \(place.position))
                ORDER BY xid, position LIMIT \(Int64(limit))
                """
            )
        )
    }

    /// Prevents every month from being moved until this session's database transaction ends.
    ///
    /// Call it as the first statement of a snapshot that reads the log. The list of moved months
    /// and the rows that are read are then from the same moment.
    public static func holdMonths(on connection: isolated PostgresConnection) throws {
        try connection.execute("LOCK TABLE outbox IN ACCESS SHARE MODE")
    }

    /// Refuses to continue if a month was moved from the log since the caller began to read it.
    ///
    /// It is for readers without a lock, which call it after each page.
    ///
    /// - Parameters:
    ///   - dropped: The months that had already been moved.
    ///   - connection: A session of the service's database.
    /// - Throws: ``ArchiveError`` that names the month.
    public static func requireNoOthers(
        than dropped: [DroppedMonth],
        on connection: isolated PostgresConnection
    ) throws {
        let months = Set(dropped.map(\.month))
        guard
            let month = try Self.dropped(on: connection).map(\.month).first(where: {
                !months.contains($0)
            })
        else { return }
        throw ArchiveError(
            .archiveMissing,
            "\(month) has left the log while it was read. Begin again, with --archives."
        )
    }

    /// Drops a month that is in a file, and records the file.
    ///
    /// The database itself checks again that it may.
    ///
    /// - Parameters:
    ///   - file: The file, which was checked against its manifest.
    ///   - name: The file's name in the folder of archives.
    ///   - connection: A session of the role `counterfoil_archivist`.
    /// - Throws: `PostgresError`, with the reason, if the month is not over, not confirmed, or
    ///   differs from the file, or if the log is being read (`lockTimeout`); then nothing has
    ///   changed. ``ArchiveError`` if the file is not that of a month.
    public static func drop(
        _ file: EventFileReader,
        named name: String,
        on connection: isolated PostgresConnection
    ) throws {
        guard let archived = file.manifest.month, let month = archived.month,
            let head = archived.head, let digest = LogDigest(file.manifest.sha256)
        else { throw ArchiveError(.eventFile, "\(file.path) is no month of a log.") }
        // Readers continue while the rows are counted. But while the drop waits for its lock, every
        // service that appends waits behind it, so the wait must be short.
        try connection.execute("SET lock_timeout = '200ms'")
        _ = try connection.query(
            """
            SELECT archive_outbox_month(
                \(month.description), \(name), \(digest.bytes), \(Int64(file.manifest.events)),
                \(head.bytes)
            )
            """
        )
    }
}

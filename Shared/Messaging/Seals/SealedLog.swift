import EventTypes
public import Postgres

/// A log of a service's database that is sealed: an insert-only table whose rows have places in
/// commit order.
public struct SealedLog: Sendable {
    /// Its name in `log_seals`.
    public let name: String
    /// Whether what it reads has the months that are in files.
    let includesArchives: Bool
    private let read: Reading

    /// Reads the settled rows after a place, in the order of their places, at most as many as the
    /// limit says.
    public typealias Reading =
        @Sendable (OutboxCursor, Int, isolated PostgresConnection) throws -> [SealedRow]

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - name: Its name in `log_seals`.
    ///   - read: Reads its rows. What it returns is a prefix of what is there, which no later commit
    ///     adds to.
    public init(name: String, read: @escaping Reading) {
        self.init(name: name, includesArchives: false, read: read)
    }

    private init(name: String, includesArchives: Bool, read: @escaping Reading) {
        self.name = name
        self.includesArchives = includesArchives
        self.read = read
    }

    /// A service's event log.
    public static let outbox = outbox(archives: nil)

    /// A service's event log with the months of it that are in files.
    ///
    /// - Parameter archives: Those months; they are checked like the others. `nil` if there are none,
    ///   or if what is in files is not to be looked at.
    /// - Returns: The log.
    public static func outbox(archives: ArchivedRows?) -> SealedLog {
        SealedLog(name: "outbox", includesArchives: archives != nil) { cursor, limit, connection in
            try SealStore.outboxRows(
                after: cursor,
                limit: limit,
                archives: archives,
                on: connection
            )
        }
    }

    /// Reads the settled rows after a place.
    func rows(
        after cursor: OutboxCursor,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [SealedRow] {
        try read(cursor, limit, connection)
    }
}

extension SealedRow {
    /// Rows of the outbox with their exact times.
    static func sealing(_ rows: [ExactRow]) -> [SealedRow] {
        var writer = DigestWriter()
        return rows.map { exact in
            let event = exact.row.event
            writer.clear()
            writer.write(exact.row.cursor.xid)
            writer.write(exact.row.cursor.position)
            writer.write(event.id.bytes)
            writer.write(exact.microsecondsSinceEpoch)
            writer.write(event.type.rawValue)
            writer.write(event.topic)
            writer.write(event.key)
            writer.write(event.subject)
            writer.write(event.traceparent)
            writer.write(event.data)
            return SealedRow(
                cursor: exact.row.cursor,
                microsecondsSinceEpoch: exact.microsecondsSinceEpoch,
                content: writer,
                kind: event.type.rawValue,
                subject: event.subject
            )
        }
    }

    /// Rows of the outbox as the relay has read them: what it seals was written by ``Outbox``, whose
    /// times are whole milliseconds.
    static func sealing(_ rows: [OutboxRow]) -> [SealedRow] { sealing(rows.map(ExactRow.init)) }
}

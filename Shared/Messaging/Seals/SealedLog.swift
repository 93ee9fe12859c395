import EventTypes
public import Postgres

/// A log of a service's database that is sealed: an insert-only table whose rows have places in
/// commit order.
public struct SealedLog: Sendable {
    /// Its name in `log_seals`.
    public let name: String
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
        self.name = name
        self.read = read
    }

    /// A service's event log.
    public static let outbox = SealedLog(name: "outbox") { cursor, limit, connection in
        try SealStore.outboxRows(after: cursor, limit: limit, on: connection)
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
    /// A row of the outbox, with its exact time in microseconds since 1970-01-01 00:00 UTC.
    init(_ row: OutboxRow, microsecondsSinceEpoch: Int64, writer: inout DigestWriter) {
        writer.clear()
        writer.write(row.cursor.xid)
        writer.write(row.cursor.position)
        writer.write(row.event.id.bytes)
        writer.write(microsecondsSinceEpoch)
        writer.write(row.event.type.rawValue)
        writer.write(row.event.topic)
        writer.write(row.event.key)
        writer.write(row.event.subject)
        writer.write(row.event.traceparent)
        writer.write(row.event.data)
        self.init(
            cursor: row.cursor,
            microsecondsSinceEpoch: microsecondsSinceEpoch,
            content: writer,
            kind: row.event.type.rawValue,
            subject: row.event.subject
        )
    }

    /// Rows of the outbox as the relay has read them: what it seals was written by ``Outbox``, whose
    /// times are whole milliseconds.
    static func sealing(_ rows: [OutboxRow]) -> [SealedRow] {
        var writer = DigestWriter()
        return rows.map { row in
            SealedRow(
                row,
                microsecondsSinceEpoch: row.event.time.millisecondsSinceEpoch * 1000,
                writer: &writer
            )
        }
    }
}

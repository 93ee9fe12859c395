import EventTypes
package import Postgres
public import Seals

extension SealedLog {
    /// The name of a service's event log among its logs.
    package static let outboxName = "outbox"

    /// A service's event log, without the months of it that are in files.
    public static let outbox = outbox(includesArchives: false) { cursor, limit, connection in
        try EventLog.settledExactRows(after: cursor, limit: limit, on: connection)
    }

    /// A service's event log, as somebody reads its rows.
    ///
    /// - Parameters:
    ///   - includesArchives: Whether what is read has the months that are in files.
    ///   - read: Reads the settled rows after a place, in their order.
    /// - Returns: The log.
    package static func outbox(
        includesArchives: Bool,
        read:
            @escaping @Sendable (OutboxCursor, Int, isolated PostgresConnection) throws ->
            [ExactRow]
    ) -> SealedLog {
        SealedLog(
            name: outboxName,
            includesArchives: includesArchives,
            end: { try RelayStore.progress(on: $0).published },
            read: { SealedRow.sealing(try read($0, $1, $2)) }
        )
    }
}

extension SealedRow {
    /// Rows of the outbox with their exact times, each with the digest of every column as it is.
    package static func sealing(_ rows: [ExactRow]) -> [SealedRow] {
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

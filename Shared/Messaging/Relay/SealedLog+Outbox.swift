import EventTypes
package import Postgres
public import Seals

extension SealedLog {
    /// The name of the outbox among the sealed logs of a service.
    package static let outboxName = "outbox"

    /// A service's event log, without the months that are archived in files.
    public static let outbox = outbox(includesArchives: false) { place, limit, connection in
        try EventLog.exactRows(after: place, limit: limit, on: connection)
    }

    /// A service's event log whose rows are read by a given function.
    ///
    /// - Parameters:
    ///   - includesArchives: Whether the function also reads the archived months.
    ///   - read: Reads the settled rows after a place, in their order.
    /// - Returns: The log.
    package static func outbox(
        includesArchives: Bool,
        read:
            @escaping @Sendable (LogPlace, Int, isolated PostgresConnection) throws ->
            [ExactRow]
    ) -> SealedLog {
        SealedLog(
            name: outboxName,
            includesArchives: includesArchives,
            end: { try RelayStore.published(on: $0) },
            read: { SealedRow.sealing(try read($0, $1, $2)) }
        )
    }
}

extension SealedRow {
    /// Outbox rows for sealing, each with its exact time and the digest of all its columns.
    package static func sealing(_ rows: [ExactRow]) -> [SealedRow] {
        var writer = DigestWriter()
        return rows.map { exact in
            let event = exact.row.event
            writer.clear()
            writer.write(exact.row.place.xid)
            writer.write(exact.row.place.position)
            writer.write(event.id.bytes)
            writer.write(exact.microsecondsSinceEpoch)
            writer.write(event.type.rawValue)
            writer.write(event.topic)
            writer.write(event.key)
            writer.write(event.subject)
            writer.write(exact.trace)
            writer.write(event.data)
            return SealedRow(
                place: exact.row.place,
                microsecondsSinceEpoch: exact.microsecondsSinceEpoch,
                content: writer,
                kind: event.type.rawValue,
                subject: event.subject
            )
        }
    }

    /// Outbox rows for sealing, as the relay has read them.
    ///
    /// They were written by ``Outbox``, so their times are whole milliseconds.
    static func sealing(_ rows: [OutboxRow]) -> [SealedRow] { sealing(rows.map(ExactRow.init)) }
}

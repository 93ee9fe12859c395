import EventTypes
import Kafka
import Postgres
import Seals

/// The SQL of the relay: the rows that wait to be published, and its own place.
enum RelayStore {
    /// Reads the next rows to publish.
    ///
    /// - Returns: The rows, and whether there may be further ones, which are read later.
    static func nextRows(
        after place: LogPlace,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> (rows: [OutboxRow], hasMore: Bool) {
        let (settled, hasMore) = try EventLog.nextRows(after: place, limit: limit, on: connection)
        guard settled.isEmpty, hasMore else { return (settled, hasMore) }
        // An unsettled row sends no second notification, so it must be read again.
        return (try EventLog.rowsSettledHere(after: place, limit: limit, on: connection), true)
    }

    /// The place in the log up to which the relay of this database has published.
    ///
    /// It costs one row, however many partitions and chains the relay has.
    static func published(on connection: isolated PostgresConnection) throws -> LogPlace {
        let rows = try connection.query("SELECT xid, position FROM relay_place")
        guard let row = rows.first else {
            throw MessagingError(.notMigrated, "relay_place has no row; run the migrations")
        }
        let (xid, position) = try row.decode(UInt64.self, Int64.self)
        return LogPlace(xid: xid, position: position)
    }

    /// The stored progress of the relay of this database.
    static func progress(on connection: isolated PostgresConnection) throws -> RelayProgress {
        let rows = try connection.query(
            "SELECT xid, position, confirmed_xid, confirmed_position, epoch FROM relay_place"
        )
        guard let row = rows.first else {
            throw MessagingError(.notMigrated, "relay_place has no row; run the migrations")
        }
        let (xid, position, confirmedXID, confirmedPosition, epoch) = try row.decode(
            UInt64.self,
            Int64.self,
            UInt64.self,
            Int64.self,
            Int32.self
        )
        var lastOffsets: [KafkaTopicPartition: Int64] = [:]
        for row in try connection.query("SELECT topic, partition, last_offset FROM relay_offsets") {
            let (topic, partition, offset) = try row.decode(
                String.self,
                Int32.self,
                Int64.self
            )
            lastOffsets[KafkaTopicPartition(topic: topic, partition: partition)] = offset
        }
        var tips: [EventChain: LogPlace] = [:]
        var confirmedTips: [EventChain: LogPlace] = [:]
        for row in try connection.query(
            """
            SELECT topic, chain, xid, position, confirmed_xid, confirmed_position FROM relay_chains
            """
        ) {
            let (topic, name, xid, position, confirmedXID, confirmedPosition) = try row.decode(
                String.self,
                String.self,
                UInt64.self,
                Int64.self,
                UInt64.self,
                Int64.self
            )
            let chain = EventChain(topic: topic, name: name)
            let confirmed = LogPlace(xid: confirmedXID, position: confirmedPosition)
            tips[chain] = LogPlace(xid: xid, position: position)
            if confirmed != .start { confirmedTips[chain] = confirmed }
        }
        return RelayProgress(
            published: LogPlace(xid: xid, position: position),
            confirmed: LogPlace(xid: confirmedXID, position: confirmedPosition),
            epoch: epoch,
            lastOffsets: lastOffsets,
            tips: ChainTips(tips),
            confirmedTips: ChainTips(confirmedTips)
        )
    }

    /// Stores the relay's progress in one statement.
    ///
    /// - Parameters:
    ///   - progress: The progress.
    ///   - lead: The relay's lead. If another process has taken over, nothing is stored.
    ///   - touched: The partitions whose newest offset changed.
    ///   - chains: The chains whose newest event, published or confirmed, changed.
    ///   - seals: The seals of the published rows, stored together with the new place.
    ///   - connection: The connection.
    /// - Throws: ``PostgresError``; ``MessagingError`` with ``MessagingError/Code/leadLost``.
    static func save(
        _ progress: RelayProgress,
        by lead: Lead,
        touched: [KafkaTopicPartition],
        chains: [EventChain] = [],
        seals: [LogSeal] = [],
        on connection: isolated PostgresConnection
    ) throws {
        let tips = chains.map { progress.tips.places[$0] ?? .start }
        let confirmed = chains.map { progress.confirmedTips.places[$0] ?? .start }
        let moved = try connection.query(
            """
            WITH lead AS (\(fence: lead)),
            offsets AS (
                INSERT INTO relay_offsets (topic, partition, last_offset)
                SELECT touched.* FROM unnest(
                    \(touched.map(\.topic)), \(touched.map(\.partition)),
                    \(touched.map { progress.lastOffsets[$0] ?? -1 })
                ) AS touched, lead
                ON CONFLICT (topic, partition) DO UPDATE SET last_offset = excluded.last_offset
            ),
            tips AS (
                INSERT INTO relay_chains
                    (topic, chain, xid, position, confirmed_xid, confirmed_position)
                SELECT touched.* FROM unnest(
                    \(chains.map(\.topic)), \(chains.map(\.name)),
                    \(tips.map(\.xid)), \(tips.map(\.position)),
                    \(confirmed.map(\.xid)), \(confirmed.map(\.position))
                ) AS touched, lead
                ON CONFLICT (topic, chain) DO UPDATE SET
                    xid = excluded.xid, position = excluded.position,
                    confirmed_xid = excluded.confirmed_xid,
                    confirmed_position = excluded.confirmed_position
            ),
            sealed AS (\(sealing: seals, log: SealedLog.outboxName) WHERE EXISTS (SELECT FROM lead))
            UPDATE relay_place SET
                epoch = \(progress.epoch),
                xid = \(progress.published.xid), position = \(progress.published.position),
                confirmed_xid = \(progress.confirmed.xid),
                confirmed_position = \(progress.confirmed.position)
            FROM lead
            RETURNING lead.term
            """
        )
        guard !moved.isEmpty else { throw lead.lost }
    }

    /// Deletes the offsets of a log that is gone, and stores the place where the new log begins.
    ///
    /// - Throws: As ``save(_:by:touched:chains:seals:on:)``. The caller then rolls back the database
    ///   transaction.
    static func saveAfterLoss(
        _ progress: RelayProgress,
        by lead: Lead,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute("DELETE FROM relay_offsets")
        try connection.execute("DELETE FROM relay_chains")
        let chains = Array(progress.tips.places.keys)
        try save(progress, by: lead, touched: [], chains: chains, on: connection)
    }

    /// Refuses a database whose new events would have places behind those that are published.
    ///
    /// New rows would then sort before old ones and never be published. It happens if a database was
    /// restored, or moved to another server by a dump, and the clock was set back as well.
    static func requireRecentDatabase(
        for progress: RelayProgress,
        on connection: isolated PostgresConnection
    ) throws {
        let newest = try newestPlace(on: connection)
        guard progress.published.xid <= newest else {
            throw MessagingError(
                .outboxAheadOfDatabase,
                "the outbox was published up to \(progress.published.xid), but new events of this "
                    + "database would only be at \(newest); set the server's clock, and then "
                    + "UPDATE outbox_base SET server_started_at = '-infinity'"
            )
        }
    }

    /// The first part of the place that an event would get if it were appended now.
    private static func newestPlace(on connection: isolated PostgresConnection) throws -> UInt64 {
        try connection.query("SELECT outbox_place()").first?.decode(UInt64.self) ?? 0
    }

    /// Creates the outbox partitions of the present and the coming months, and of all rows without
    /// one.
    static func ensurePartitions(
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute("SELECT ensure_outbox_partitions(\(time), 3)")
    }
}

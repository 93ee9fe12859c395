package import Postgres

/// The SQL of the seals.
package enum SealStore {
    /// The newest seal of each month of a log.
    package static func heads(
        of log: String,
        on connection: isolated PostgresConnection
    ) throws -> SealHeads {
        // The query descends the index once for each month, however many seals the month has.
        let rows = try connection.query(
            """
            WITH RECURSIVE months AS (
                SELECT max(month) AS month FROM log_seals WHERE log = \(log)
                UNION ALL
                SELECT (
                    SELECT max(month) FROM log_seals WHERE log = \(log) AND month < months.month
                )
                FROM months WHERE months.month IS NOT NULL
            )
            SELECT head.month, head.number, head.last_xid, head.last_position, head.digest
            FROM months CROSS JOIN LATERAL (
                SELECT * FROM log_seals AS seal
                WHERE seal.log = \(log) AND seal.month = months.month
                ORDER BY number DESC LIMIT 1
            ) AS head
            """
        )
        return SealHeads(
            try rows.map { row in
                let (month, number, xid, position, digest) = try row.decode(
                    String.self,
                    Int64.self,
                    UInt64.self,
                    Int64.self,
                    [UInt8].self
                )
                return SealHeads.Head(
                    place: try place(month, number),
                    last: LogPlace(xid: xid, position: position),
                    digest: try self.digest(digest)
                )
            }
        )
    }

    /// Inserts seals.
    ///
    /// - Throws: `PostgresError` of a violated primary key if another process has sealed in the
    ///   meantime.
    package static func insert(
        _ seals: [LogSeal],
        log: String,
        on connection: isolated PostgresConnection
    ) throws {
        guard !seals.isEmpty else { return }
        try connection.execute("\(sealing: seals, log: log)")
    }

    /// A month's seals after a number, in order.
    static func seals(
        of log: String,
        in month: LogMonth,
        after number: Int64,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [LogSeal] {
        let rows = try connection.query(
            """
            SELECT number, follows_month, follows_number, first_xid, first_position, last_xid,
                last_position, row_count, marks, digest
            FROM log_seals
            WHERE log = \(log) AND month = \(month.description) AND number > \(number)
            ORDER BY number LIMIT \(Int64(limit))
            """
        )
        return try rows.map { row in
            let (
                number, followsMonth, followsNumber, firstXID, firstPosition, lastXID, lastPosition,
                count, marks, digest
            ) = try row.decode(
                Int64.self,
                String?.self,
                Int64?.self,
                UInt64.self,
                Int64.self,
                UInt64.self,
                Int64.self,
                Int32.self,
                [UInt8].self,
                [UInt8].self
            )
            var follows: LogSeal.Place?
            if let followsMonth, let followsNumber {
                follows = try place(followsMonth, followsNumber)
            }
            return LogSeal(
                place: LogSeal.Place(month: month, number: number),
                follows: follows,
                first: LogPlace(xid: firstXID, position: firstPosition),
                last: LogPlace(xid: lastXID, position: lastPosition),
                rowCount: Int(count),
                marks: marks,
                digest: try self.digest(digest)
            )
        }
    }

    /// The digest of one seal; `nil` if there is no such seal.
    static func digest(
        of place: LogSeal.Place,
        log: String,
        on connection: isolated PostgresConnection
    ) throws -> LogDigest? {
        let rows = try connection.query(
            """
            SELECT digest FROM log_seals
            WHERE log = \(log) AND month = \(place.month.description) AND number = \(place.number)
            """
        )
        return try rows.first.map { try digest($0.decode([UInt8].self)) }
    }

    /// Whether some seal of a month has a given digest.
    static func isSealed(
        with digest: LogDigest,
        _ month: LogMonth,
        log: String,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let rows = try connection.query(
            """
            SELECT EXISTS (
                SELECT 1 FROM log_seals
                WHERE log = \(log) AND month = \(month.description) AND digest = \(digest.bytes)
            )
            """
        )
        return try rows.first?.decode(Bool.self) ?? false
    }

    /// The months of a log that were moved from its database to files.
    ///
    /// - Throws: `PostgresError`; ``SealError`` if a row is invalid.
    package static func dropped(
        from log: String,
        on connection: isolated PostgresConnection
    ) throws -> [DroppedMonth] {
        let rows = try connection.query(
            """
            SELECT month, row_count, last_xid, last_position, last_seal, head, file_name
            FROM log_archives WHERE log = \(log) ORDER BY month
            """
        )
        return try rows.map { row in
            let (name, count, xid, position, seal, head, file) = try row.decode(
                String.self,
                Int64.self,
                UInt64.self,
                Int64.self,
                Int64.self,
                [UInt8].self,
                String.self
            )
            guard let month = LogMonth(name) else {
                throw SealError("log_archives names no month: \(name)")
            }
            return DroppedMonth(
                month: month,
                rowCount: count,
                last: LogPlace(xid: xid, position: position),
                lastSeal: seal,
                head: try digest(head, in: "log_archives"),
                fileName: file
            )
        }
    }

    /// The time of this database transaction, in microseconds since 1970-01-01 00:00 UTC.
    static func now(on connection: isolated PostgresConnection) throws -> Int64 {
        let rows = try connection.query("SELECT now()")
        return try rows.first?.decode(PostgresTimestamp.self).microsecondsSinceEpoch ?? 0
    }

    private static func place(_ month: String, _ number: Int64) throws -> LogSeal.Place {
        guard let month = LogMonth(month) else {
            throw SealError("log_seals names no month: \(month)")
        }
        return LogSeal.Place(month: month, number: number)
    }

    private static func digest(
        _ bytes: [UInt8],
        in table: String = "log_seals"
    ) throws -> LogDigest {
        guard let digest = LogDigest(bytes: bytes) else {
            throw SealError("a digest of \(table) has not 32 bytes")
        }
        return digest
    }
}

extension SQL.StringInterpolation {
    /// Appends the statement that inserts seals, to be used alone or inside another statement.
    package mutating func appendInterpolation(sealing seals: [LogSeal], log: String) {
        appendLiteral(
            """
            INSERT INTO log_seals (log, month, number, follows_month, follows_number, first_xid,
                first_position, last_xid, last_position, row_count, marks, digest)
            SELECT * FROM unnest(
            """
        )
        appendInterpolation(seals.map { _ in log })
        append(seals.map(\.place.month.description))
        append(seals.map(\.place.number))
        append(seals.map(\.follows?.month.description))
        append(seals.map(\.follows?.number))
        append(seals.map(\.first.xid))
        append(seals.map(\.first.position))
        append(seals.map(\.last.xid))
        append(seals.map(\.last.position))
        append(seals.map { Int32($0.rowCount) })
        append(seals.map(\.marks))
        append(seals.map(\.digest.bytes))
        appendLiteral(")")
    }

    private mutating func append(_ column: some PostgresEncodable) {
        appendLiteral(", ")
        appendInterpolation(column)
    }
}

import Messaging
public import Postgres
public import Seals

extension SealCheck {
    /// The digest of a month's newest seal, and the place up to which the log is sealed.
    ///
    /// - Returns: Both; no digest if nothing of the month is sealed.
    public static func head(
        of month: LogMonth,
        on connection: isolated PostgresConnection
    ) throws -> (digest: LogDigest?, sealed: LogPlace) {
        let heads = try SealStore.heads(of: SealedLog.outboxName, on: connection)
        return (heads.digest(of: month), heads.sealed)
    }

    /// Checks an archived month of an event log against its seals, which stay in the database.
    ///
    /// - Parameters:
    ///   - file: The file, which was checked against its manifest.
    ///   - connection: A session of the service's database.
    /// - Returns: The months and the findings.
    /// - Throws: `PostgresError`; ``ArchiveError`` if the file is not that of a month, or cannot be
    ///   read.
    public static func check(
        _ file: EventFileReader,
        on connection: isolated PostgresConnection
    ) throws -> SealReport {
        guard let archived = file.manifest.month, let month = archived.month else {
            throw ArchiveError(.eventFile, "\(file.path) is no month of a log.")
        }
        let log = SealedLog.outboxName
        var report = SealReport()
        var reading = SealedMonthReading(log: log, month: month)
        let cursor = try file.open()
        while case let lines = try cursor.next(), !lines.isEmpty {
            try Task.checkCancellation()
            for row in SealedRow.sealing(lines.map(\.row)) {
                guard row.month == month else {
                    report.add(
                        SealFinding(
                            .insertedRow,
                            log: log,
                            month: month,
                            place: row.place,
                            "\(row.name) at \(row.place) is of \(row.month)"
                        )
                    )
                    continue
                }
                try reading.take(row, &report, on: connection)
            }
        }
        try reading.finish(&report, on: connection)
        if report.months.first?.head != archived.head {
            report.add(
                SealFinding(
                    .otherHead,
                    log: log,
                    month: month,
                    "the file's manifest names another newest seal than the database has"
                )
            )
        }
        return report
    }
}

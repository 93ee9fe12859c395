public import Postgres

/// Compares a service's logs with their seals and reports the differences.
///
/// It reads each log once, in order, and keeps the rows of one seal for each month in memory. Run
/// it in a session that has begun a snapshot (`PostgresConnection.beginSnapshot()`), so that log
/// and seals are from the same moment.
///
/// The check alone cannot detect a log whose seals were all made again after a change; somebody who
/// may write everything can do that. It is detected if an earlier digest was stored elsewhere and
/// is passed as an expectation.
public struct SealCheck: Sendable {
    /// A digest that was recorded elsewhere.
    public struct Expectation: Hashable, Sendable {
        /// The log.
        public let log: String
        /// The month.
        public let month: LogMonth
        /// The digest of the month's newest seal at that time.
        public let head: LogDigest

        /// Makes an expectation.
        public init(log: String, month: LogMonth, head: LogDigest) {
            self.log = log
            self.month = month
            self.head = head
        }
    }

    private let logs: [SealedLog]
    private let expectations: [Expectation]

    /// The number of rows that are read at once.
    private static let pageSize = 1000
    /// The longest time for which a row may be unsealed, in microseconds.
    private static let patience: Int64 = 60_000_000

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - logs: The logs to check.
    ///   - expectations: Digests that the hash chains must pass through.
    public init(logs: [SealedLog], expectations: [Expectation] = []) {
        self.logs = logs
        self.expectations = expectations
    }

    /// Checks all logs.
    ///
    /// - Parameters:
    ///   - connection: The session.
    ///   - progress: Called with the number of rows after every page.
    /// - Returns: The months and the findings.
    /// - Throws: `PostgresError`, ``SealError``, an error of reading the log, or
    ///   `CancellationError` if the task was cancelled.
    public func run(
        on connection: isolated PostgresConnection,
        progress: (Int64) -> Void = { _ in }
    ) throws -> SealReport {
        var report = SealReport()
        var rowCount: Int64 = 0
        for log in logs {
            try check(log, &report, on: connection) { count in
                rowCount += Int64(count)
                progress(rowCount)
            }
        }
        for expected in expectations {
            let isThere = try SealStore.isSealed(
                with: expected.head,
                expected.month,
                log: expected.log,
                on: connection
            )
            if !isThere {
                report.add(
                    SealFinding(
                        .otherHead,
                        log: expected.log,
                        month: expected.month,
                        "no seal has the digest \(expected.head), which was written down"
                    )
                )
            }
        }
        return report
    }

    private func check(
        _ log: SealedLog,
        _ report: inout SealReport,
        on connection: isolated PostgresConnection,
        progress: (Int) -> Void
    ) throws {
        let heads = try SealStore.heads(of: log.name, on: connection)
        var months = try sealedMonths(of: log, heads, &report, on: connection)
        var end = LogPlace.start
        var waitingSince = Int64.max
        var unsealed = 0
        while true {
            try Task.checkCancellation()
            let rows = try log.rows(after: end, limit: Self.pageSize, on: connection)
            guard let last = rows.last else { break }
            end = last.place
            for row in rows {
                if row.place > heads.sealed {
                    unsealed += 1
                    waitingSince = min(waitingSince, row.microsecondsSinceEpoch)
                    continue
                }
                try months[row.month, default: SealedMonthReading(log: log.name, month: row.month)]
                    .take(row, &report, on: connection)
            }
            progress(rows.count)
        }
        for month in months.keys.sorted() {
            try months[month]?.finish(&report, on: connection)
        }
        report.unsealedRows += Int64(unsealed)
        let waiting = try SealStore.now(on: connection) - waitingSince
        if unsealed > 0, waiting > Self.patience {
            report.add(
                SealFinding(
                    .lateSeal,
                    log: log.name,
                    place: heads.sealed,
                    count: unsealed,
                    "no seal since \(heads.sealed), the oldest row waits for \(waiting / 1_000_000) s"
                        + "; does the service run?"
                )
            )
        }
        try checkEnd(of: log, at: max(end, heads.sealed), &report, on: connection)
    }

    /// The months of a log, ready to be read, with what is known of months that left for files.
    private func sealedMonths(
        of log: SealedLog,
        _ heads: SealHeads,
        _ report: inout SealReport,
        on connection: isolated PostgresConnection
    ) throws -> [LogMonth: SealedMonthReading] {
        var months: [LogMonth: SealedMonthReading] = [:]
        for month in heads.sealedMonths {
            months[month] = SealedMonthReading(log: log.name, month: month)
        }
        for absent in try absentMonths(of: log, on: connection) {
            let place = LogSeal.Place(month: absent.month, number: absent.lastSeal)
            if try SealStore.digest(of: place, log: log.name, on: connection) != absent.head {
                report.add(
                    SealFinding(
                        .brokenChain,
                        log: log.name,
                        month: absent.month,
                        "the rows are in \(absent.fileName), and seal \(place) is not the one that "
                            + "they left with"
                    )
                )
            }
            months[absent.month] = SealedMonthReading(log: log.name, absent)
        }
        return months
    }

    /// Compares the end of a log with what the relay has published.
    private func checkEnd(
        of log: SealedLog,
        at end: LogPlace,
        _ report: inout SealReport,
        on connection: isolated PostgresConnection
    ) throws {
        guard let published = try log.published(on: connection) else { return }
        if end < published {
            report.add(
                SealFinding(
                    .cutTail,
                    log: log.name,
                    place: end,
                    "the log and its seals end at \(end), but the relay has published up to "
                        + "\(published)"
                )
            )
        }
    }

    /// The months of a log whose rows are in files that this check does not read.
    private func absentMonths(
        of log: SealedLog,
        on connection: isolated PostgresConnection
    ) throws -> [DroppedMonth] {
        log.includesArchives ? [] : try SealStore.dropped(from: log.name, on: connection)
    }
}

public import Postgres

/// Reads a service's logs beside their seals and says what does not fit.
///
/// It reads each log once, in its order, and holds the rows of one seal for each month. Run it in a
/// session that has begun a snapshot (`PostgresConnection.beginSnapshot()`), so that log and seals
/// are of one moment.
///
/// What a check cannot see by itself is a log whose seals were all made anew after the change:
/// whoever may write anything can do that. It is found where a digest of before was kept elsewhere
/// and is asked for.
public struct SealCheck: Sendable {
    /// A digest that was written down.
    public struct Expectation: Hashable, Sendable {
        /// The log.
        public let log: String
        /// The month.
        public let month: LogMonth
        /// The digest that the month's chain ended in at the time.
        public let head: LogDigest

        /// Takes note of a digest.
        public init(log: String, month: LogMonth, head: LogDigest) {
            self.log = log
            self.month = month
            self.head = head
        }
    }

    private let logs: [SealedLog]
    private let expectations: [Expectation]

    /// How many rows are read at once.
    private static let pageSize = 1000
    /// How many seals are read at once.
    private static let sealPageSize = 32
    /// How long a row may be without its seal, in microseconds.
    private static let patience: Int64 = 60_000_000

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - logs: The logs to check.
    ///   - expectations: Digests that the chains must pass through.
    public init(logs: [SealedLog], expectations: [Expectation] = []) {
        self.logs = logs
        self.expectations = expectations
    }

    /// Checks everything.
    ///
    /// - Parameters:
    ///   - connection: The session.
    ///   - progress: Told the number of rows after every page.
    /// - Returns: What is there and what is wrong.
    /// - Throws: `PostgresError`, ``MessagingError``, or `CancellationError` if the task was
    ///   cancelled.
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

    /// The digest of a month's newest seal, and the place up to which every event of the log is sealed.
    ///
    /// - Returns: Both; no digest if nothing of the month is sealed.
    public static func head(
        of month: LogMonth,
        on connection: isolated PostgresConnection
    ) throws -> (digest: LogDigest?, sealed: OutboxCursor) {
        let heads = try SealStore.heads(of: SealedLog.outbox.name, on: connection)
        return (heads.digest(of: month), heads.sealed)
    }

    /// Checks a month of an event log that is in a file against the seals, which stay in the database.
    ///
    /// - Parameters:
    ///   - file: The file, which was checked against its manifest.
    ///   - connection: A session of the service's database.
    /// - Returns: What is there and what is wrong.
    /// - Throws: `PostgresError`; ``MessagingError`` if the file is of no month, or cannot be read.
    public static func check(
        _ file: EventFileReader,
        on connection: isolated PostgresConnection
    ) throws -> SealReport {
        guard let archived = file.manifest.month, let month = archived.month else {
            throw MessagingError(.eventFile, "\(file.path) is no month of a log.")
        }
        let log = SealedLog.outbox.name
        var report = SealReport()
        var reading = MonthReading(log: log, month: month)
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
                            cursor: row.cursor,
                            "\(row.name) at \(row.cursor) is of \(row.month)"
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

    private func check(
        _ log: SealedLog,
        _ report: inout SealReport,
        on connection: isolated PostgresConnection,
        progress: (Int) -> Void
    ) throws {
        let heads = try SealStore.heads(of: log.name, on: connection)
        var months: [LogMonth: MonthReading] = [:]
        for month in heads.sealedMonths {
            months[month] = MonthReading(log: log.name, month: month)
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
            months[absent.month] = MonthReading(log: log.name, absent)
        }
        var end = OutboxCursor.start
        var waitingSince = Int64.max
        var unsealed = 0
        while true {
            try Task.checkCancellation()
            let rows = try log.rows(after: end, limit: Self.pageSize, on: connection)
            guard let last = rows.last else { break }
            end = last.cursor
            for row in rows {
                if row.cursor > heads.sealed {
                    unsealed += 1
                    waitingSince = min(waitingSince, row.microsecondsSinceEpoch)
                    continue
                }
                try months[row.month, default: MonthReading(log: log.name, month: row.month)]
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
                    cursor: heads.sealed,
                    count: unsealed,
                    "no seal since \(heads.sealed), the oldest row waits for \(waiting / 1_000_000) s"
                        + "; does the service run?"
                )
            )
        }
        guard log.name == SealedLog.outbox.name else { return }
        let published = try RelayStore.progress(on: connection).published
        if max(end, heads.sealed) < published {
            report.add(
                SealFinding(
                    .cutTail,
                    log: log.name,
                    cursor: max(end, heads.sealed),
                    "the log and its seals end at \(max(end, heads.sealed)), but the relay has "
                        + "published up to \(published)"
                )
            )
        }
    }

    /// The months of a log whose rows are in files that are not read here.
    private func absentMonths(
        of log: SealedLog,
        on connection: isolated PostgresConnection
    ) throws -> [DroppedMonth] {
        guard log.name == SealedLog.outbox.name, !log.includesArchives else { return [] }
        return try LogArchiveStore.dropped(on: connection)
    }

    /// A month's check with the seals it goes through, which are read as they are needed.
    private struct MonthReading {
        private var check: SealedMonthCheck
        private var page: [LogSeal] = []
        private var isAtEnd = false
        /// The month's rows are in a file that is not read here.
        private var absent: DroppedMonth?

        init(log: String, month: LogMonth) {
            check = SealedMonthCheck(log: log, month: month)
        }

        /// A month of which only what came after it left is to be read.
        init(log: String, _ absent: DroppedMonth) {
            self.absent = absent
            check = SealedMonthCheck(
                log: log,
                month: absent.month,
                after: (
                    LogSeal.Place(month: absent.month, number: absent.lastSeal), absent.head
                )
            )
        }

        mutating func take(
            _ row: SealedRow,
            _ report: inout SealReport,
            on connection: isolated PostgresConnection
        ) throws {
            while true {
                if let last = check.last {
                    guard row.cursor > last else { break }
                    check.finish().forEach { report.add($0) }
                }
                guard try advance(&report, on: connection) else {
                    return report.add(check.inserted(row))
                }
            }
            if let finding = check.take(row) { report.add(finding) }
        }

        mutating func finish(
            _ report: inout SealReport,
            on connection: isolated PostgresConnection
        ) throws {
            repeat {
                check.finish().forEach { report.add($0) }
            } while try advance(&report, on: connection)
            guard let head = check.head else { return }
            report.months.append(
                SealReport.Month(
                    log: check.log,
                    month: check.month,
                    rows: check.rowCount,
                    seals: check.sealCount,
                    head: head.digest,
                    archived: absent
                )
            )
        }

        /// Goes to the next seal; `false` if there is none.
        private mutating func advance(
            _ report: inout SealReport,
            on connection: isolated PostgresConnection
        ) throws -> Bool {
            if page.isEmpty, !isAtEnd {
                page = try SealStore.seals(
                    of: check.log,
                    in: check.month,
                    after: check.number,
                    limit: SealCheck.sealPageSize,
                    on: connection
                ).reversed()
            }
            guard let next = page.popLast() else {
                isAtEnd = true
                return false
            }
            var followed: LogDigest?
            if let follows = next.follows {
                followed =
                    follows == check.head?.place
                    ? check.head?.digest
                    : try SealStore.digest(of: follows, log: check.log, on: connection)
            }
            if let finding = check.begin(next, following: followed) { report.add(finding) }
            return true
        }
    }
}

package import Postgres

/// The check of a month, together with its seals, which are read when they are needed.
package struct SealedMonthReading {
    private var check: SealedMonthCheck
    private var page: [LogSeal] = []
    private var isAtEnd = false
    /// Set if the month's rows are in a file that is not read here.
    private var absent: DroppedMonth?

    /// The number of seals that are read at once.
    private static let pageSize = 32

    /// Makes a reading of a whole month.
    package init(log: String, month: LogMonth) {
        check = SealedMonthCheck(log: log, month: month)
    }

    /// Makes a reading of the rows of a month that came after it was archived.
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

    /// Takes the next row of the month.
    package mutating func take(
        _ row: SealedRow,
        _ report: inout SealReport,
        on connection: isolated PostgresConnection
    ) throws {
        while true {
            if let last = check.last {
                guard row.place > last else { break }
                check.finish().forEach { report.add($0) }
            }
            guard try advance(&report, on: connection) else {
                return report.add(check.inserted(row))
            }
        }
        if let finding = check.take(row) { report.add(finding) }
    }

    /// Ends the month, and adds it to the report.
    package mutating func finish(
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

    /// Begins the next seal; `false` if there is none.
    private mutating func advance(
        _ report: inout SealReport,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        if page.isEmpty, !isAtEnd {
            page = try SealStore.seals(
                of: check.log,
                in: check.month,
                after: check.number,
                limit: Self.pageSize,
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

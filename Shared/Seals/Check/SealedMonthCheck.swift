/// Compares the rows of one month of a log with its seals, both in order.
///
/// Pure; it keeps the rows of one seal at a time.
struct SealedMonthCheck: Sendable {
    let log: String
    let month: LogMonth
    /// The number of rows that match their seals, or are at least present.
    private(set) var rowCount: Int64 = 0
    /// The number of seals that were checked.
    private(set) var sealCount: Int64 = 0
    /// The newest seal that was checked.
    private(set) var head: (place: LogSeal.Place, digest: LogDigest)?

    private var seal: LogSeal?
    /// The digest of the preceding seal; `nil` if that seal is missing, so that the link cannot be
    /// checked.
    private var followed: LogDigest?
    private var isFirstOfLog = false
    private var sealsAreMissing = false
    private var rows: [SealedRow] = []

    /// - Parameters:
    ///   - log: The log's name.
    ///   - month: The month.
    ///   - head: The last seal that needs no check, because its rows are in an archive.
    init(
        log: String,
        month: LogMonth,
        after head: (place: LogSeal.Place, digest: LogDigest)? = nil
    ) {
        self.log = log
        self.month = month
        self.head = head
    }

    /// The number of the newest seal that was checked.
    var number: Int64 { head?.place.number ?? 0 }

    /// The last place of the current seal; `nil` if there is no seal.
    var last: LogPlace? { seal?.last }

    /// Begins the next seal.
    ///
    /// - Parameters:
    ///   - next: The seal. The one before it is finished.
    ///   - digest: The digest of the seal that it claims to follow; `nil` if there is none.
    /// - Returns: A finding if the seal is in the wrong place of the chain.
    mutating func begin(_ next: LogSeal, following digest: LogDigest?) -> SealFinding? {
        let before = head?.place
        seal = next
        followed = digest
        isFirstOfLog = next.follows == nil
        sealCount += 1
        head = (next.place, next.digest)
        sealsAreMissing = next.place.number != (before?.number ?? 0) + 1
        if sealsAreMissing {
            let gone = ((before?.number ?? 0) + 1)...(next.place.number - 1)
            return finding(
                .missingSeals,
                place: next.first,
                count: gone.count,
                seals: gone,
                "they are not there, so nothing is known of their rows"
            )
        }
        if let follows = next.follows, digest == nil {
            return finding(
                .missingSeals,
                place: next.first,
                "seal \(next.place) follows \(follows), which is not there"
            )
        }
        if before != nil, next.follows != before {
            return finding(
                .brokenChain,
                place: next.first,
                "seal \(next.place) says that it follows another seal than the one before it"
            )
        }
        return nil
    }

    /// Takes a row that is not after the current seal.
    ///
    /// - Returns: A finding about the row alone, if there is one.
    mutating func take(_ row: SealedRow) -> SealFinding? {
        guard let seal else { return inserted(row) }
        if row.place < seal.first {
            return sealsAreMissing ? nil : inserted(row)
        }
        // A seal's rows are kept in memory, and an attacker may have inserted any number of them.
        guard rows.count < seal.rowCount + LogSeal.rowsMax else { return inserted(row) }
        rows.append(row)
        return nil
    }

    /// The finding that a row was added where none was sealed.
    func inserted(_ row: SealedRow) -> SealFinding {
        finding(
            .insertedRow,
            place: row.place,
            "\(row.name) at \(row.place) was not there when the log was sealed here"
        )
    }

    /// Ends the current seal.
    ///
    /// - Returns: The findings about its rows.
    mutating func finish() -> [SealFinding] {
        guard let seal else { return [] }
        defer {
            self.seal = nil
            rows.removeAll(keepingCapacity: true)
        }
        rowCount += Int64(rows.count)
        if rows.flatMap(\.digest.mark) != seal.marks {
            if rows.isEmpty {
                return [
                    finding(
                        .missingRows,
                        place: seal.first,
                        count: seal.rowCount,
                        seals: seal.place.number...seal.place.number,
                        "all that were sealed together from \(seal.first) on are gone"
                    )
                ]
            }
            return differences(from: seal)
        }
        guard isFirstOfLog || followed != nil else { return [] }
        let digest = LogSeal.digest(
            after: followed,
            place: seal.place,
            rows: rows.map(\.digest)
        )
        guard digest == seal.digest, rows.count == seal.rowCount,
            rows.first?.place == seal.first, rows.last?.place == seal.last
        else {
            let before = seal.follows.map { "seal \($0)" } ?? "an empty log"
            return [
                finding(
                    .brokenChain,
                    place: seal.first,
                    "seal \(seal.place), over rows \(seal.first) to \(seal.last), does not follow "
                        + "from \(before) and its rows: one of the seals, or a row with its seal, "
                        + "was changed"
                )
            ]
        }
        return []
    }

    /// Finds the rows that differ, by the marks that the seal stores for each row.
    private func differences(from seal: LogSeal) -> [SealFinding] {
        let marks = stride(from: 0, to: seal.marks.count, by: LogDigest.markCount).map {
            seal.marks[$0..<min($0 + LogDigest.markCount, seal.marks.count)]
        }
        let present = Set(rows.map(\.digest.mark))
        var findings: [SealFinding] = []
        var next = 0  // The index of the next mark.
        var strangers: [SealedRow] = []  // Rows since the last unchanged one.
        var before: LogPlace?
        for row in rows {
            guard let match = marks[next...].firstIndex(of: row.digest.mark) else {
                strangers.append(row)
                continue
            }
            let gone = marks[next..<match].count { !present.contains($0) }
            findings += changes(strangers, gone: gone, after: before, before: row.place)
            strangers = []
            before = row.place
            next = match + 1
        }
        let gone = marks[next...].count { !present.contains($0) }
        return findings + changes(strangers, gone: gone, after: before, before: nil)
    }

    /// The findings between two unchanged rows.
    ///
    /// As many new rows count as edited as sealed ones are missing. The rest were inserted or are
    /// missing.
    private func changes(
        _ strangers: [SealedRow],
        gone: Int,
        after: LogPlace?,
        before: LogPlace?
    ) -> [SealFinding] {
        var findings = strangers.enumerated().map { index, row in
            index < gone
                ? finding(
                    .editedRow,
                    place: row.place,
                    "\(row.name) at \(row.place) is not as it was sealed"
                ) : inserted(row)
        }
        if gone > strangers.count {
            let place = [after.map { "after \($0)" }, before.map { "before \($0)" }]
                .compactMap(\.self).joined(separator: " and ")
            findings.append(
                finding(
                    .missingRows,
                    place: after ?? seal?.first,
                    count: gone - strangers.count,
                    "gone from \(place)"
                )
            )
        }
        return findings
    }

    private func finding(
        _ kind: SealFinding.Kind,
        place: LogPlace?,
        count: Int = 1,
        seals: ClosedRange<Int64>? = nil,
        _ words: String
    ) -> SealFinding {
        SealFinding(
            kind,
            log: log,
            month: month,
            place: place,
            count: count,
            seals: seals,
            words
        )
    }
}

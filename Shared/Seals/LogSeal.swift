/// A seal over rows of one month of a log that follow each other: a link of that month's chain.
///
/// Its digest is over the digest of the seal it follows and over the digests of its rows, so whoever
/// knows the newest one can tell whether anything before it was changed.
package struct LogSeal: Hashable, Sendable {
    /// A seal by its place in the chains.
    package struct Place: Hashable, Sendable, CustomStringConvertible {
        package var month: LogMonth
        /// 1 for the month's first.
        package var number: Int64

        package var description: String { "\(month)/\(number)" }
    }

    /// The most rows of one seal.
    package static let rowsMax = 1000

    /// Which seal it is.
    package let place: Place
    /// The seal it follows; only a log's very first follows none.
    ///
    /// It is the one before it of its month, or, for a month's first, the newest of the log when it
    /// was made.
    let follows: Place?
    /// The place of its first row.
    let first: OutboxCursor
    /// The place of its last row.
    let last: OutboxCursor
    /// How many rows it is over.
    let rowCount: Int
    /// The first bytes of each row's digest, one after another.
    let marks: [UInt8]
    /// Its digest.
    let digest: LogDigest

    /// The digest of a seal.
    ///
    /// - Parameters:
    ///   - previous: That of the seal it follows.
    ///   - place: Which seal it is.
    ///   - rows: Those of its rows, in their order.
    /// - Returns: The digest over all of these.
    static func digest(
        after previous: LogDigest?,
        place: Place,
        rows: [LogDigest]
    ) -> LogDigest {
        var content = DigestWriter()
        content.write(previous?.bytes ?? [])
        content.write(place.month.description)
        content.write(place.number)
        content.write(UInt64(rows.count))
        for row in rows { content.write(row.bytes) }
        return LogDigest(of: content.bytes)
    }

    /// Makes the seal over rows, of which there is at least one.
    init?(_ rows: [SealedRow], place: Place, follows: (place: Place, digest: LogDigest)?) {
        guard let first = rows.first, let last = rows.last else { return nil }
        self.place = place
        self.follows = follows?.place
        self.first = first.cursor
        self.last = last.cursor
        rowCount = rows.count
        marks = rows.flatMap(\.digest.mark)
        digest = Self.digest(
            after: follows?.digest,
            place: place,
            rows: rows.map(\.digest)
        )
    }

    /// A seal as it is stored.
    init(
        place: Place,
        follows: Place?,
        first: OutboxCursor,
        last: OutboxCursor,
        rowCount: Int,
        marks: [UInt8],
        digest: LogDigest
    ) {
        self.place = place
        self.follows = follows
        self.first = first
        self.last = last
        self.rowCount = rowCount
        self.marks = marks
        self.digest = digest
    }
}

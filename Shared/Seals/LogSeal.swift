/// A seal over consecutive rows of one month of a log: a link of that month's hash chain.
///
/// Its digest covers the digest of the preceding seal and the digests of its rows. With the newest
/// digest one can therefore detect a change to anything before it.
package struct LogSeal: Hashable, Sendable {
    /// The place of a seal in the hash chains.
    package struct Place: Hashable, Sendable, CustomStringConvertible {
        package var month: LogMonth
        /// The seal's number in its month, from 1.
        package var number: Int64

        package var description: String { "\(month)/\(number)" }
    }

    /// The largest number of rows in one seal.
    package static let rowsMax = 1000

    /// The seal's own place.
    package let place: Place
    /// The place of the preceding seal; `nil` only for the very first seal of a log.
    ///
    /// It is the seal before it in its month or, for the first seal of a month, the newest seal of
    /// the log at that time.
    let follows: Place?
    /// The place of its first row.
    let first: LogPlace
    /// The place of its last row.
    let last: LogPlace
    /// The number of its rows.
    let rowCount: Int
    /// The first bytes of each row's digest, one after another.
    let marks: [UInt8]
    /// Its digest.
    let digest: LogDigest

    /// The digest of a seal.
    ///
    /// - Parameters:
    ///   - previous: The digest of the preceding seal.
    ///   - place: The seal's place.
    ///   - rows: The digests of its rows, in order.
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

    /// Makes the seal over some rows; `nil` if there are none.
    init?(_ rows: [SealedRow], place: Place, follows: (place: Place, digest: LogDigest)?) {
        guard let first = rows.first, let last = rows.last else { return nil }
        self.place = place
        self.follows = follows?.place
        self.first = first.place
        self.last = last.place
        rowCount = rows.count
        marks = rows.flatMap(\.digest.mark)
        digest = Self.digest(
            after: follows?.digest,
            place: place,
            rows: rows.map(\.digest)
        )
    }

    /// Makes a seal from its stored values.
    init(
        place: Place,
        follows: Place?,
        first: LogPlace,
        last: LogPlace,
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

/// A row of a log that is sealed: its place, its month, and the digest of everything it says.
public struct SealedRow: Sendable {
    /// Where it stands.
    public let cursor: OutboxCursor
    /// The month it belongs to.
    public let month: LogMonth
    /// The digest of all its columns.
    public let digest: LogDigest
    /// When it happened, in microseconds since 1970-01-01 00:00 UTC.
    let microsecondsSinceEpoch: Int64
    private let kind: String
    private let subject: String

    /// What to call it where it is reported.
    var name: String { "\(kind) about \(subject)" }

    /// Makes a row of a log.
    ///
    /// - Parameters:
    ///   - cursor: Where it stands.
    ///   - microsecondsSinceEpoch: When it happened, since 1970-01-01 00:00 UTC.
    ///   - content: All its columns.
    ///   - kind: What kind of row it is, where it is reported.
    ///   - subject: What it is about, where it is reported; no payload.
    public init(
        cursor: OutboxCursor,
        microsecondsSinceEpoch: Int64,
        content: DigestWriter,
        kind: String,
        subject: String
    ) {
        self.cursor = cursor
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
        self.kind = kind
        self.subject = subject
        month = LogMonth(microsecondsSinceEpoch: microsecondsSinceEpoch)
        digest = LogDigest(of: content.bytes)
    }
}

/// A seal over rows of one month of a log that follow each other: a link of that month's chain.
///
/// Its digest is over the digest of the seal it follows and over the digests of its rows, so whoever
/// knows the newest one can tell whether anything before it was changed.
struct LogSeal: Hashable, Sendable {
    /// A seal by its place in the chains.
    struct Place: Hashable, Sendable, CustomStringConvertible {
        var month: LogMonth
        /// 1 for the month's first.
        var number: Int64

        var description: String { "\(month)/\(number)" }
    }

    /// The most rows of one seal.
    static let rowsMax = 1000

    /// Which seal it is.
    let place: Place
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

/// The newest seal of each month of a log, and so what the next ones follow.
///
/// Pure.
struct SealHeads: Equatable, Sendable {
    /// A month's newest seal.
    struct Head: Equatable, Sendable {
        var place: LogSeal.Place
        var last: OutboxCursor
        var digest: LogDigest
    }

    private var months: [LogMonth: Head] = [:]
    /// Every row up to here is sealed.
    private(set) var sealed: OutboxCursor = .start

    init(_ heads: [Head]) {
        for head in heads {
            months[head.place.month] = head
            sealed = max(sealed, head.last)
        }
    }

    /// Every month that has a seal.
    var sealedMonths: Set<LogMonth> { Set(months.keys) }

    /// The digest of a month's newest seal.
    func digest(of month: LogMonth) -> LogDigest? { months[month]?.digest }

    private var newest: Head? { months.values.max { $0.last < $1.last } }

    /// Seals the rows that are not sealed yet.
    ///
    /// - Parameter rows: Rows in the order of the log; after the first that is not sealed, none
    ///   that the log has is left out.
    /// - Returns: A seal for each month that they are of; none if all are sealed.
    mutating func seal(_ rows: [SealedRow]) -> [LogSeal] {
        let open = Dictionary(grouping: rows.drop { $0.cursor <= sealed }, by: \.month)
        return open.sorted { $0.key < $1.key }.compactMap { month, rows in
            let before = months[month] ?? newest
            let place = LogSeal.Place(month: month, number: (months[month]?.place.number ?? 0) + 1)
            guard
                let seal = LogSeal(
                    rows,
                    place: place,
                    follows: before.map { ($0.place, $0.digest) }
                )
            else { return nil }
            months[month] = Head(place: place, last: seal.last, digest: seal.digest)
            sealed = max(sealed, seal.last)
            return seal
        }
    }

    /// Passes over places where there is no row that could be sealed.
    mutating func skip(to cursor: OutboxCursor) {
        sealed = max(sealed, cursor)
    }
}

/// The newest seal of each month of a log, which the next seals follow.
///
/// Pure.
package struct SealHeads: Equatable, Sendable {
    /// A month's newest seal.
    struct Head: Equatable, Sendable {
        var place: LogSeal.Place
        var last: LogPlace
        var digest: LogDigest
    }

    private var months: [LogMonth: Head] = [:]
    /// The place up to which every row is sealed.
    package private(set) var sealed: LogPlace = .start

    init(_ heads: [Head]) {
        for head in heads {
            months[head.place.month] = head
            sealed = max(sealed, head.last)
        }
    }

    /// The months that have a seal.
    package var sealedMonths: Set<LogMonth> { Set(months.keys) }

    /// The digest of a month's newest seal.
    package func digest(of month: LogMonth) -> LogDigest? { months[month]?.digest }

    private var newest: Head? { months.values.max { $0.last < $1.last } }

    /// Seals those of the rows that are not sealed yet.
    ///
    /// - Parameter rows: Rows in the order of the log. From the first unsealed one on, there must
    ///   be no gaps.
    /// - Returns: A seal for each month of these rows; none if all are already sealed.
    package mutating func seal(_ rows: [SealedRow]) -> [LogSeal] {
        let open = Dictionary(grouping: rows.drop { $0.place <= sealed }, by: \.month)
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

    /// Skips places where there is no row to be sealed.
    package mutating func skip(to place: LogPlace) {
        sealed = max(sealed, place)
    }
}

/// A contradiction between a log and its seals, with its place.
public struct SealFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of findings.
    public enum Kind: String, Sendable {
        /// A row has changed since it was sealed.
        case editedRow = "edited row"
        /// Sealed rows are missing.
        case missingRows = "missing rows"
        /// A row was added after the rows around it were sealed.
        case insertedRow = "inserted row"
        /// Seals are missing.
        case missingSeals = "missing seals"
        /// A seal does not follow from the one before it, or does not match its rows.
        case brokenChain = "broken chain"
        /// The log ends before the place up to which the relay has published it.
        case cutTail = "cut tail"
        /// Rows have been unsealed for too long.
        case lateSeal = "late seal"
        /// The hash chain does not contain a digest that was recorded elsewhere.
        case otherHead = "another head"
    }

    /// The kind of finding.
    public let kind: Kind
    /// The affected log.
    public let log: String
    /// The affected month; `nil` for the log as a whole.
    public let month: LogMonth?
    /// The affected row, or the last row before the missing ones.
    public let place: LogPlace?
    /// The number of affected rows or seals.
    public internal(set) var count: Int
    /// The numbers of the seals that are affected as a whole.
    var seals: ClosedRange<Int64>?
    private let words: String

    package init(
        _ kind: Kind,
        log: String,
        month: LogMonth? = nil,
        place: LogPlace? = nil,
        count: Int = 1,
        seals: ClosedRange<Int64>? = nil,
        _ words: String
    ) {
        self.kind = kind
        self.log = log
        self.month = month
        self.place = place
        self.count = count
        self.seals = seals
        self.words = words
    }

    /// A description of the finding, with its place and without any payload.
    public var description: String {
        let scope = month.map { "\(log) \($0)" } ?? log
        let numbers = seals.map { range in
            range.count == 1
                ? " (seal \(range.lowerBound))"
                : " (seals \(range.lowerBound) to \(range.upperBound))"
        }
        let amount = count == 1 ? "" : " (\(count))"
        return "\(scope): \(kind.rawValue)\(amount): \(words)\(numbers ?? "")"
    }

    /// Merges a finding of the same kind about the next seals into this one.
    ///
    /// - Returns: Whether the two could be merged.
    mutating func absorb(_ next: SealFinding) -> Bool {
        guard let seals, let others = next.seals, kind == next.kind, log == next.log,
            month == next.month, seals.upperBound + 1 == others.lowerBound
        else { return false }
        self.seals = seals.lowerBound...others.upperBound
        count += next.count
        return true
    }
}

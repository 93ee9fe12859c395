/// Something about a log that its seals do not allow, and where.
public struct SealFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of findings.
    public enum Kind: String, Sendable {
        /// A row is not as it was when it was sealed.
        case editedRow = "edited row"
        /// Rows that were sealed are gone.
        case missingRows = "missing rows"
        /// A row stands where it did not when its surroundings were sealed.
        case insertedRow = "inserted row"
        /// Seals are gone.
        case missingSeals = "missing seals"
        /// A seal does not follow from the one before it, or is not what its rows give.
        case brokenChain = "broken chain"
        /// The log ends before what the relay says it has published.
        case cutTail = "cut tail"
        /// Rows have waited for their seal too long.
        case lateSeal = "late seal"
        /// The chain does not pass through a digest that was written down.
        case otherHead = "another head"
    }

    /// What kind of finding it is.
    public let kind: Kind
    /// The log it is about.
    public let log: String
    /// The month it is about; `nil` for the log as a whole.
    public let month: LogMonth?
    /// The row it is about, or the last one before what is missing.
    public let cursor: OutboxCursor?
    /// How many rows or seals it is about.
    public internal(set) var count: Int
    /// The numbers of the seals it is about as a whole.
    var seals: ClosedRange<Int64>?
    private let words: String

    package init(
        _ kind: Kind,
        log: String,
        month: LogMonth? = nil,
        cursor: OutboxCursor? = nil,
        count: Int = 1,
        seals: ClosedRange<Int64>? = nil,
        _ words: String
    ) {
        self.kind = kind
        self.log = log
        self.month = month
        self.cursor = cursor
        self.count = count
        self.seals = seals
        self.words = words
    }

    /// The finding in words, with the place and no payload.
    public var description: String {
        let place = month.map { "\(log) \($0)" } ?? log
        let numbers = seals.map { range in
            range.count == 1
                ? " (seal \(range.lowerBound))"
                : " (seals \(range.lowerBound) to \(range.upperBound))"
        }
        let amount = count == 1 ? "" : " (\(count))"
        return "\(place): \(kind.rawValue)\(amount): \(words)\(numbers ?? "")"
    }

    /// Takes in a finding of the same kind about the seals that come next.
    ///
    /// - Returns: Whether it did.
    mutating func absorb(_ next: SealFinding) -> Bool {
        guard let seals, let others = next.seals, kind == next.kind, log == next.log,
            month == next.month, seals.upperBound + 1 == others.lowerBound
        else { return false }
        self.seals = seals.lowerBound...others.upperBound
        count += next.count
        return true
    }
}

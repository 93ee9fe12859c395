/// The result of a check of a service's seals.
public struct SealReport: Sendable {
    /// The state of one month of a log, and the head of its hash chain.
    public struct Month: Sendable {
        /// The log.
        public let log: String
        /// The month.
        public let month: LogMonth
        /// The number of rows that are sealed and present.
        public var rows: Int64
        /// The number of seals.
        public var seals: Int64
        /// The digest of the newest seal.
        ///
        /// Kept elsewhere, it can be an expectation of a later check.
        public var head: LogDigest
        /// Set if most of the month's rows are in a file and were not checked.
        public var archived: DroppedMonth?
    }

    /// Every month, by log and time.
    public internal(set) var months: [Month] = []
    /// The findings, in the order in which they were made.
    public private(set) var findings: [SealFinding] = []
    /// The number of findings beyond those in ``findings``.
    public private(set) var furtherFindings = 0
    /// The number of rows that are not sealed yet.
    public internal(set) var unsealedRows: Int64 = 0

    /// The largest number of stored findings; further ones are only counted.
    static let findingsMax = 100

    /// Makes an empty report.
    public init() {}

    /// Adds a finding.
    package mutating func add(_ finding: SealFinding) {
        if var last = findings.last, last.absorb(finding) {
            findings[findings.count - 1] = last
        } else if findings.count < Self.findingsMax {
            findings.append(finding)
        } else {
            furtherFindings += 1
        }
    }
}

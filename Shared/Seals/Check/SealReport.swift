/// What a check of a service's seals has seen and found.
public struct SealReport: Sendable {
    /// A month of a log: what is there, and what its chain ends in.
    public struct Month: Sendable {
        /// The log.
        public let log: String
        /// The month.
        public let month: LogMonth
        /// How many rows are sealed and there.
        public var rows: Int64
        /// How many seals there are.
        public var seals: Int64
        /// The digest of the newest seal: whoever keeps it elsewhere can ask for it later.
        public var head: LogDigest
        /// Set if most of its rows are in a file, and were not looked at.
        public var archived: DroppedMonth?
    }

    /// Every month, by log and time.
    public internal(set) var months: [Month] = []
    /// What is not right, in the order in which it was found.
    public private(set) var findings: [SealFinding] = []
    /// How many findings there are beyond those.
    public private(set) var furtherFindings = 0
    /// How many rows wait for their seal.
    public internal(set) var unsealedRows: Int64 = 0

    /// More than these are counted only.
    static let findingsMax = 100

    /// Makes a report of nothing.
    public init() {}

    /// Notes a finding.
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

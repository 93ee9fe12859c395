import EventTypes

/// The outcome of one scenario.
public struct ScenarioReport: Sendable {
    /// A step that failed, or a fact that did not become true.
    public struct Finding: Hashable, Sendable {
        /// The line in the file.
        public let line: Int
        /// The step or the fact, and what happened instead.
        public let message: String

        /// Makes a finding.
        public init(line: Int, message: String) {
            self.line = line
            self.message = message
        }
    }

    /// The result of a run.
    public enum Outcome: Sendable {
        /// All steps succeeded, and all facts became true.
        case passed
        /// A step failed, or some facts did not become true in time. The run ended there.
        case failed([Finding])
        /// The store does not meet these needs, so nothing was done.
        case skipped(Set<ScenarioNeed>)
    }

    /// The path of the file.
    public let path: String
    /// The name of the scenario.
    public let name: String
    /// The seed of the run.
    public let seed: UInt64
    /// The end of the names that the scenario's accounts have in the store, such as `-1f3a09c2`.
    public let accountSuffix: String
    /// The result.
    public let outcome: Outcome
    /// The number of facts that the store does not show.
    public let leftOutCount: Int
    /// The time that the run took.
    public let time: Duration

    /// Makes a report.
    public init(
        path: String,
        name: String,
        seed: UInt64,
        accountSuffix: String,
        outcome: Outcome,
        leftOutCount: Int = 0,
        time: Duration
    ) {
        self.path = path
        self.name = name
        self.seed = seed
        self.accountSuffix = accountSuffix
        self.outcome = outcome
        self.leftOutCount = leftOutCount
        self.time = time
    }

    /// Whether the run found something wrong.
    public var hasFailed: Bool { if case .failed = outcome { true } else { false } }
    /// Whether nothing was done.
    public var wasSkipped: Bool { if case .skipped = outcome { true } else { false } }

    /// The report for people: one line, and below it what went wrong and where.
    public var lines: [String] {
        switch outcome {
        case .passed: ["✓ \(name) (\(time.inSeconds) s\(leftOut.map { "; " + $0 } ?? ""))"]
        case .failed(let findings):
            ["✗ \(name) (\(time.inSeconds) s)"]
                + findings.map { "  \(path):\($0.line): \($0.message)" }
                + [
                    "  The seed was \(seed). The accounts' names in the store end with \(accountSuffix)."
                ]
        case .skipped(let needs): ["- \(name): skipped, as it needs \(Self.list(needs))"]
        }
    }

    /// The facts that were left out, in words; `nil` if there are none.
    var leftOut: String? {
        switch leftOutCount {
        case 0: nil
        case 1: "1 fact was left out"
        default: "\(leftOutCount) facts were left out"
        }
    }

    /// Returns one line about all reports.
    public static func summary(_ reports: [ScenarioReport]) -> String {
        let failed = reports.count(where: \.hasFailed)
        let skipped = reports.count(where: \.wasSkipped)
        return "\(reports.count) scenarios: \(reports.count - failed - skipped) passed, "
            + "\(failed) failed, \(skipped) skipped"
    }

    static func list(_ needs: Set<ScenarioNeed>) -> String {
        needs.sorted().map(\.description).joined(separator: ", ")
    }
}

extension Duration {
    /// The duration in seconds with three decimals.
    var inSeconds: String {
        let digits = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
    }
}

import EventTypes
import Scenarios

/// The outcome of one scenario as JSON.
struct ScenarioAnswer: Encodable {
    /// A step or a fact that is not as it should be.
    struct Finding: Encodable {
        let line: Int
        let message: String
    }

    let path: String
    let name: String
    let seed: UInt64
    /// `passed`, `failed` or `skipped`.
    let outcome: String
    /// The steps and facts that failed.
    let findings: [Finding]
    /// The needs that the store does not meet, if it was skipped.
    let needs: [String]
    /// The number of facts that the store does not show.
    let leftOutFacts: Int
    let milliseconds: Int64
    /// The end of the accounts' names in the store.
    let accountSuffix: String

    init(_ report: ScenarioReport) {
        path = report.path
        name = report.name
        seed = report.seed
        accountSuffix = report.accountSuffix
        leftOutFacts = report.leftOutCount
        milliseconds = report.time.milliseconds
        switch report.outcome {
        case .passed: (outcome, findings, needs) = ("passed", [], [])
        case .failed(let found):
            outcome = "failed"
            findings = found.map { Finding(line: $0.line, message: $0.message) }
            needs = []
        case .skipped(let unmet):
            (outcome, findings) = ("skipped", [])
            needs = unmet.sorted().map(\.rawValue)
        }
    }
}

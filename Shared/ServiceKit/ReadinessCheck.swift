/// A condition that must hold before a service can work: a database connection, an assigned
/// partition, applied migrations.
public struct ReadinessCheck: Sendable {
    /// The name of the condition: `postgres`, `kafka`, `migrations`.
    public let name: String
    /// Checks whether the condition holds, without waiting for it.
    public let isReady: @Sendable () async -> Bool
    /// The reason why the condition does not hold, as a sentence; `nil` if the name says enough.
    var explanation: @Sendable () async -> String? = { nil }
    /// A problem with which the service is ready all the same, as a sentence; `nil` if there is none.
    var problem: @Sendable () async -> String? = { nil }

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - name: The name of the condition.
    ///   - isReady: Checks whether the condition holds, without waiting for it.
    public init(_ name: String, isReady: @escaping @Sendable () async -> Bool) {
        self.name = name
        self.isReady = isReady
    }

    /// Makes a check that explains a failure.
    ///
    /// - Parameters:
    ///   - name: The name of the condition.
    ///   - failure: The reason why the condition does not hold, as a sentence without its full
    ///     stop; `nil` if it holds.
    public init(_ name: String, failure: @escaping @Sendable () async -> String?) {
        self.name = name
        isReady = { await failure() == nil }
        explanation = failure
    }

    /// Makes a check that only warns: the service is ready even if it fails.
    ///
    /// - Parameters:
    ///   - name: The name of the condition.
    ///   - problem: The reason why the condition does not hold, as a sentence without its full
    ///     stop; `nil` if it holds.
    /// - Returns: The check.
    public static func warning(
        _ name: String,
        of problem: @escaping @Sendable () async -> String?
    ) -> ReadinessCheck {
        var check = ReadinessCheck(name) { true }
        check.problem = problem
        return check
    }
}

extension [ReadinessCheck] {
    /// The names of the failing checks, each with its explanation if it has one.
    func failing() async -> [String] {
        var names: [String] = []
        for check in self where await !check.isReady() {
            let explanation = await check.explanation()
            names.append(explanation.map { "\(check.name) (\($0))" } ?? check.name)
        }
        return names
    }

    /// The names of the checks that warn, each with its problem.
    func warnings() async -> [String] {
        var warnings: [String] = []
        for check in self {
            if let problem = await check.problem() { warnings.append("\(check.name) (\(problem))") }
        }
        return warnings
    }
}

/// A fact that is not as expected.
public struct ScenarioDifference: Hashable, Sendable, CustomStringConvertible {
    /// The fact.
    public let fact: ScenarioFact
    /// The value that was observed in its place.
    public let observed: ScenarioValue

    /// The difference without its line in the file.
    public var message: String {
        "\(fact.subject): expected \(fact.expected), observed \(observed)"
    }

    /// The difference in one line.
    public var description: String { "line \(fact.line): \(message)" }
}

/// Compares what a scenario expects with what was observed.
public enum ScenarioComparison {
    /// Returns the facts that are not as expected, in their order.
    ///
    /// - Parameters:
    ///   - facts: The facts.
    ///   - observed: What was observed of each subject. Of the others nothing was.
    /// - Returns: The differences. There are none if everything is as expected.
    public static func differences(
        _ facts: [ScenarioFact],
        _ observed: [ScenarioSubject: ScenarioValue]
    ) -> [ScenarioDifference] {
        facts.compactMap { fact in
            let value = observed[fact.subject] ?? .nothing
            return holds(fact.expected, value)
                ? nil : ScenarioDifference(fact: fact, observed: value)
        }
    }

    /// Returns the devices that have restored some of what they should have, or nothing of it.
    static func devicesToRestore(_ differences: [ScenarioDifference]) -> [String] {
        differences.compactMap { difference in
            guard case .restored(let device) = difference.fact.subject,
                case .set(let expected) = difference.fact.expected,
                case .set(let observed) = difference.observed, observed.isSubset(of: expected)
            else { return nil }
            return device
        }
    }

    /// Whether an observed value is the expected one.
    ///
    /// A device that did not make the payment sees `purchasing` only if it lasts. So it counts only
    /// where the expected states begin with it.
    static func holds(_ expected: ScenarioValue, _ observed: ScenarioValue) -> Bool {
        guard case .sequence(let wanted) = expected, case .sequence(let seen) = observed else {
            return expected == observed
        }
        if wanted.first != "purchasing", seen.first == "purchasing" {
            return wanted == Array(seen.dropFirst())
        }
        return wanted == seen
    }
}

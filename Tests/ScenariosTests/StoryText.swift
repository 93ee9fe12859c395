@testable import Scenarios

/// A scenario file of some products, to which a test adds the steps.
struct StoryText {
    let products: String

    /// Reads the file with some steps.
    ///
    /// - Throws: `ScenarioProblems`.
    func read(_ steps: String) throws(ScenarioProblems) -> Scenario {
        try ScenarioReader.read("scenario: x\n\(products)\nsteps:\n\(steps)")
    }

    /// The problems of the file with some steps.
    func problems(_ steps: String) -> [String] {
        do throws(ScenarioProblems) {
            _ = try read(steps)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }
}

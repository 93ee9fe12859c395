import Foundation
import Scenarios

/// The scenarios of some files.
enum ScenarioFiles {
    /// Reads all files before anything else happens.
    ///
    /// - Returns: The path and the scenario of each file.
    static func read(_ paths: [String]) throws(OperatorError) -> [(path: String, Scenario)] {
        var scenarios: [(path: String, Scenario)] = []
        var mistakes: [String] = []
        for path in paths {
            let text: String
            do {
                text = try String(contentsOfFile: path, encoding: .utf8)
            } catch {
                throw .unreadable(path, error)
            }
            do throws(ScenarioProblems) {
                scenarios.append((path, try ScenarioReader.read(text)))
            } catch {
                mistakes += error.problems.map { "\(path):\($0)" }
            }
        }
        guard mistakes.isEmpty else {
            throw OperatorError(.failed, mistakes.joined(separator: "\n"))
        }
        return scenarios
    }
}

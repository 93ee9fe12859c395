/// A scenario and the file that it was read from.
public struct ScenarioFile: Sendable {
    /// The path of the file.
    public let path: String
    /// The scenario.
    public let scenario: Scenario

    /// Reads the scenarios of all files, and then reports the mistakes of all.
    ///
    /// - Parameter texts: The path and the text of each file.
    /// - Returns: The scenarios in the same order.
    /// - Throws: ``ScenarioFileProblems`` if there is a mistake in any of them.
    public static func read(
        _ texts: [(path: String, text: String)]
    ) throws(ScenarioFileProblems) -> [ScenarioFile] {
        var files: [ScenarioFile] = []
        var lines: [String] = []
        for (path, text) in texts {
            do throws(ScenarioProblems) {
                files.append(ScenarioFile(path: path, scenario: try ScenarioReader.read(text)))
            } catch {
                lines += error.problems.map { "\(path):\($0)" }
            }
        }
        guard lines.isEmpty else { throw ScenarioFileProblems(lines: lines) }
        return files
    }
}

/// The mistakes of some files.
public struct ScenarioFileProblems: Error, Hashable, Sendable, CustomStringConvertible {
    /// A line for each mistake, as editors read it: `story.yaml:12:5: there is no step 'by'`.
    public let lines: [String]

    /// All lines.
    public var description: String { lines.joined(separator: "\n") }
}

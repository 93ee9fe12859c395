/// A mistake in a scenario file, with its place.
public struct ScenarioProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int
    /// The mistake and, where one is likely, its correction.
    public let message: String

    init(line: Int, column: Int, _ message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    init(_ value: LocatedValue, _ message: String) {
        self.init(line: value.line, column: value.column, message)
    }

    /// The problem as editors read it, after the file's name: `12:5: there is no step 'by'`.
    public var description: String { "\(line):\(column): \(message)" }
}

/// All mistakes of one file, in the order of their places.
public struct ScenarioProblems: Error, Hashable, Sendable, CustomStringConvertible {
    /// The mistakes, at least one.
    public let problems: [ScenarioProblem]

    init(_ problems: [ScenarioProblem]) {
        self.problems = problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    /// One line for each mistake.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

import Yams

/// A value of a YAML or JSON file with the place where it begins.
struct LocatedValue: Sendable {
    enum Content: Sendable {
        case nothing
        case text(String, isQuoted: Bool)
        case list([LocatedValue])
        case members([Member])
    }

    /// A name and its value.
    struct Member: Sendable {
        let name: String
        let nameLine: Int
        let nameColumn: Int
        let value: LocatedValue
    }

    let line: Int
    let column: Int
    let content: Content

    /// Deeper files are refused, as no scenario needs them.
    private static let depthMax = 16

    /// Reads a document.
    ///
    /// JSON is read as the YAML that it is.
    ///
    /// - Throws: ``ScenarioProblem`` for text that is no YAML.
    init(yaml text: String) throws(ScenarioProblem) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw ScenarioProblem(error)
        } catch {
            throw ScenarioProblem(line: 1, column: 1, "\(error)")
        }
        guard let root else { throw ScenarioProblem(line: 1, column: 1, "the file is empty") }
        try self.init(root, depth: 0)
    }

    private init(_ node: Node, depth: Int) throws(ScenarioProblem) {
        line = node.mark?.line ?? 1
        column = node.mark?.column ?? 1
        guard depth <= Self.depthMax else {
            throw ScenarioProblem(line: line, column: column, "the file is nested too deeply")
        }
        switch node {
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain || scalar.style == .any
            content =
                isPlain && ["", "~", "null"].contains(scalar.string)
                ? .nothing : .text(scalar.string, isQuoted: !isPlain)
        case .sequence(let sequence):
            var values: [LocatedValue] = []
            for node in sequence { values.append(try LocatedValue(node, depth: depth + 1)) }
            content = .list(values)
        case .mapping(let mapping):
            var members: [Member] = []
            for (key, value) in mapping {
                let (line, column) = (key.mark?.line ?? 1, key.mark?.column ?? 1)
                guard let name = key.scalar?.string else {
                    throw ScenarioProblem(line: line, column: column, "a name must be text")
                }
                members.append(
                    Member(
                        name: name,
                        nameLine: line,
                        nameColumn: column,
                        value: try LocatedValue(value, depth: depth + 1)
                    )
                )
            }
            content = .members(members)
        default:
            throw ScenarioProblem(line: line, column: column, "write the value out; no aliases")
        }
    }

    /// The members, or none if it has no members.
    var members: [Member] {
        if case .members(let members) = content { members } else { [] }
    }

    /// The elements, or none if it is no list.
    var elements: [LocatedValue] {
        if case .list(let values) = content { values } else { [] }
    }

    /// The text; `nil` if it is anything else.
    var text: String? {
        if case .text(let text, _) = content { text } else { nil }
    }

    /// The value of a member; `nil` if there is none.
    subscript(name: String) -> LocatedValue? { members.first { $0.name == name }?.value }

    /// A description of the value for error messages.
    var kind: String {
        switch content {
        case .nothing: "empty"
        case .text(let text, let isQuoted): isQuoted ? "the text '\(text)'" : "'\(text)'"
        case .list: "a list"
        case .members: "a group of names and values"
        }
    }
}

extension ScenarioProblem {
    fileprivate init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(line: mark.line, column: mark.column, "this is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "'\($0)'" }.sorted()
            self.init(
                line: context.mark.line,
                column: context.mark.column,
                "\(names.joined(separator: " and ")) stands here more than once"
            )
        default:
            self.init(line: 1, column: 1, "this is not YAML: \(error)")
        }
    }
}

import Foundation
import Testing

/// The files of this repository, found from the place of this one.
struct Repository: Sendable {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .standardizedFileURL.path

    /// Every Swift file of services, libraries, tools, tests and examples, with the manifests.
    static let swiftFiles: [SourceFile] = files(
        in: ["Package.swift", "Services", "Shared", "Tools", "Tests", "Examples"],
        suffix: ".swift"
    )

    /// Every migration.
    static let migrations: [SourceFile] = files(in: ["Services", "Shared"], suffix: ".sql")

    /// Every document.
    static let documents: [SourceFile] = files(
        in: [
            "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
            "CODE_OF_CONDUCT.md", "docs", "Services", "Shared", "Tools", "Tests", "Examples",
            "deploy",
        ],
        suffix: ".md"
    )

    /// Every test.
    static let tests = TestList(swiftFiles.filter { $0.path.hasPrefix("Tests/") })

    /// The libraries in Swift, which are the folders of Shared.
    static func libraries() throws -> [String] {
        try names(in: "Shared").filter { name in
            swiftFiles.contains { $0.path.hasPrefix("Shared/\(name)/") }
        }
    }

    static let services = ["Catalog", "Payments", "Receipts", "Fulfillment"]

    static func file(_ path: String) throws -> SourceFile {
        SourceFile(
            path: path,
            text: try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
        )
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(root)/\(path)")
    }

    /// The names in a folder, sorted.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    private static func files(in places: [String], suffix: String) -> [SourceFile] {
        var found: [SourceFile] = []
        for place in places {
            var paths = [place]
            if let below = FileManager.default.enumerator(atPath: "\(root)/\(place)") {
                paths += below.compactMap { $0 as? String }.map { "\(place)/\($0)" }
            }
            for path in paths where path.hasSuffix(suffix) {
                guard let text = try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
                else { continue }
                found.append(SourceFile(path: path, text: text))
            }
        }
        return found.sorted { $0.path < $1.path }
    }
}

/// A file, with its path from the root of the repository.
struct SourceFile: Sendable, CustomStringConvertible {
    let path: String
    let text: String
    /// The lines, without their ends.
    let lines: [String]
    /// The lines with their numbers, from 1, without those that are comments as a whole.
    let code: [(number: Int, text: String)]
    /// The imports of the file, with line numbers.
    let imports: [(number: Int, module: String)]

    // All is worked out once, since many rules ask for it.
    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = text.components(separatedBy: "\n")
        code = zip(1..., lines).filter { !Self.isComment($0.1) }.map { ($0.0, $0.1) }
        let pattern = /^\s*(?:@\w+ )*(?:public |package |internal )?import (?:\w+ )?(\w+)/
        imports = code.filter { $0.text.contains("import ") }.compactMap { number, text in
            text.firstMatch(of: pattern).map { (number, String($0.1)) }
        }
    }

    private static func isComment(_ line: String) -> Bool {
        line.utf8.drop { $0 == UInt8(ascii: " ") }.starts(with: "//".utf8)
    }

    var description: String { path }
    /// The last part of the path.
    var name: String { String(path.split(separator: "/").last ?? "") }
    /// Whether the file belongs to what is shipped.
    var isProduct: Bool { path.hasPrefix("Services/") || path.hasPrefix("Shared/") }

    /// The text with its comment lines left empty, so that line numbers stay.
    var codeText: String {
        lines.map { Self.isComment($0) ? "" : $0 }.joined(separator: "\n")
    }

    /// Whether the name ends in one of the suffixes, `.swift` left away.
    func isNamed(_ suffixes: [String]) -> Bool {
        suffixes.contains { name.hasSuffix($0 + ".swift") }
    }
}

extension String {
    /// Whether one of the words stands in the text.
    ///
    /// Most lines hold none of the words that a pattern needs, and the pattern takes far longer to say so.
    func holdsAny(of words: [String]) -> Bool {
        withCString { text in words.contains { strstr(text, $0) != nil } }
    }
}

/// The findings of a rule: places, and what to do about them.
struct Findings {
    private var list: [String] = []

    /// Notes that a line breaks the rule.
    mutating func add(_ file: SourceFile, _ line: Int, _ advice: String) {
        list.append("\(file.path):\(line): \(advice)")
    }

    /// Notes that a place breaks the rule.
    mutating func add(_ place: String, _ advice: String) {
        list.append("\(place): \(advice)")
    }

    /// Fails the test with all that was found, if anything was.
    func report(sourceLocation: SourceLocation = #_sourceLocation) {
        guard !list.isEmpty else { return }
        Issue.record("\n\(list.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}

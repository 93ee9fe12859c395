import Testing

/// Calls and words that have no place here, apart from a short list of reasons.
@Suite struct ForbiddenCallTests {
    private struct Rule: Sendable, CustomTestStringConvertible {
        var name: String
        /// Words of which every text has one that the pattern finds.
        var words: [String]
        var pattern: String
        var advice: String
        /// Paths, or folders that end in a slash, and why they may.
        var allowed: [String: String] = [:]
        /// Whether tools and tests are held to it as well.
        var includesTests = false

        var testDescription: String { name }

        func search() throws -> (String) -> Bool {
            let search = try Regex(pattern).wordBoundaryKind(.simple)
            return { $0.holdsAny(of: words) && $0.contains(search) }
        }

        func allows(_ path: String) -> Bool {
            allowed.keys.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }
        }
    }

    private static let rules = [
        Rule(
            name: "print",
            words: ["print("],
            pattern: #"(^|[^\w.])print\("#,
            advice: "log it, or write it through the command line's own output"
        ),
        Rule(
            name: "try!",
            words: ["try!"],
            pattern: #"\btry!"#,
            advice: "throw, or handle the error"
        ),
        Rule(
            name: "fatalError",
            words: ["fatalError("],
            pattern: #"\bfatalError\("#,
            advice: "throw; for a bug of ours write a precondition with a sentence"
        ),
        Rule(
            name: "Thread.sleep",
            words: ["sleep"],
            pattern: #"Thread\.sleep|\bu?sleep\(\d"#,
            advice: "await a signal or Task.sleep; never hold a thread",
            allowed: [
                "Tools/StoreHarness/Postgres/TemporaryClusters.swift":
                    "waits as the process exits, where nothing can be awaited",
                "Shared/PaymentQueue/StepLog.swift":
                    "opening is no async call, and nobody tells of a lock that a child lets go of",
            ],
            includesTests: true
        ),
        Rule(
            name: "Date()",
            words: ["Date()", "Date.now"],
            pattern: #"\bDate\(\)|Date\.now"#,
            advice: "take the clock as an argument; the edge passes MachineTime.now",
            allowed: ["Services/Operator/": "a command line is the edge"]
        ),
        Rule(
            name: "implementationOnly",
            words: ["@_"],
            pattern: #"@_(implementationOnly|exported|spi)\b"#,
            advice: "say public import where a dependency shows in the API"
        ),
    ]

    @Test(arguments: rules)
    private func isNotCalled(_ rule: Rule) throws {
        let breaks = try rule.search()
        var findings = Findings()
        for file in Repository.swiftFiles where file.isProduct || rule.includesTests {
            // The rules themselves stand here.
            guard !rule.allows(file.path), !file.path.hasPrefix("Tests/TidyTests/") else {
                continue
            }
            for (line, text) in file.code where breaks(text) {
                findings.add(file, line, "\(rule.name): \(rule.advice)")
            }
        }
        findings.report()
    }

    @Test(arguments: [
        ("print", "print(\"paid\")"), ("try!", "let coin = try! mint()"),
        ("fatalError", "fatalError(\"no coin\")"), ("Thread.sleep", "usleep(10_000)"),
        ("Date()", "let now = Date()"), ("implementationOnly", "@_exported import Mint"),
    ])
    func aForbiddenCallIsFound(name: String, text: String) throws {
        let rule = try #require(Self.rules.first { $0.name == name })
        let breaks = try rule.search()
        #expect(breaks(text))
    }

    @Test func everyUncheckedPromiseHasItsReasonBesideIt() throws {
        let promise = /@unchecked Sendable|nonisolated\(unsafe\)/
        let reason = /\/\/ \S+/
        var findings = Findings()
        for file in Repository.swiftFiles where !file.path.hasPrefix("Tests/TidyTests/") {
            for (line, text) in file.code where text.contains(promise) {
                if !file.lines[line - 1].contains(reason) {
                    findings.add(file, line, "say on this line, in a comment, why it is safe")
                }
            }
        }
        findings.report()
    }

    @Test func whatIsLeftToDoNamesItsIssue() {
        var findings = Findings()
        for file in Repository.swiftFiles where !file.path.hasPrefix("Tests/TidyTests/") {
            for (line, text) in zip(1..., file.lines)
            where (text.contains("TODO") || text.contains("FIXME")) && !text.contains(/#\d+/) {
                findings.add(file, line, "name the issue: TODO(#12)")
            }
        }
        findings.report()
    }

    @Test func filesAreShort() {
        let linesMax = 400
        var findings = Findings()
        // A manifest is one file, by SwiftPM's rule.
        for file in Repository.swiftFiles
        where file.lines.count > linesMax + 1 && file.path != "Package.swift" {
            findings.add(
                file.path,
                "has \(file.lines.count - 1) lines; split it by concept below \(linesMax)"
            )
        }
        findings.report()
    }

    @Test func noFileIsNamedForNothing() {
        var findings = Findings()
        let words = ["Utils", "Util", "Helpers", "Helper", "Common", "Manager", "Base", "Misc"]
        for file in Repository.swiftFiles where file.isNamed(words) {
            findings.add(file.path, "name the file for the concept in it")
        }
        findings.report()
    }
}

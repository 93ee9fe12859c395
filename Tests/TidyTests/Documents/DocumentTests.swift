import Foundation
import Testing

/// Documents say what they promise, and what they point at is there.
@Suite struct DocumentTests {
    @Test(arguments: Repository.services)
    func everyServiceHasItsReadme(service: String) throws {
        let headings = ["Role", "HTTP", "Events", "Tables", "Settings", "When it fails"]
        let readme = try Repository.file("Services/\(service)/README.md")
        let found = readme.lines.filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        var findings = Findings()
        for heading in headings where !found.contains(where: { $0.hasPrefix(heading) }) {
            findings.add(readme.path, "add the heading \"## \(heading)\"")
        }
        findings.report()
    }

    @Test func everyRelativeLinkResolves() {
        var findings = Findings()
        var count = 0
        for document in Repository.documents {
            for link in Self.links(of: document) {
                count += 1
                if !Repository.exists(link.path) {
                    findings.add(document, link.line, "there is no \(link.path)")
                }
            }
        }
        findings.report()
        #expect(count > 300, "the search finds the links that there are")
    }

    /// A link to a heading names one that the other document has.
    @Test func everyLinkToAHeadingResolves() {
        var anchors: [String: Set<String>] = [:]
        for document in Repository.documents {
            anchors[document.path] = Self.anchors(of: document)
        }
        var findings = Findings()
        var count = 0
        for document in Repository.documents {
            for link in Self.links(of: document) where !link.anchor.isEmpty {
                guard let known = anchors[link.path] else { continue }
                count += 1
                if !known.contains(link.anchor) {
                    findings.add(document, link.line, "\(link.path) has no #\(link.anchor)")
                }
            }
        }
        findings.report()
        #expect(count > 10, "the search finds the links that there are")
    }

    @Test(arguments: [
        ("## What it does not do", "what-it-does-not-do"), ("# ``PaymentQueue``", "paymentqueue"),
        ("### `fulfillment`: its 2 topics", "fulfillment-its-2-topics"),
    ])
    func anAnchorIsMadeFromItsHeading(heading: String, anchor: String) {
        let document = SourceFile(path: "Sample.md", text: "Not one\n\(heading)\n")
        #expect(Self.anchors(of: document) == [anchor])
    }

    /// A link of a document to a file of this repository.
    private struct Link {
        let line: Int
        let path: String
        /// The heading in that file, or nothing.
        let anchor: String
    }

    private static func links(of document: SourceFile) -> [Link] {
        let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
        var links: [Link] = []
        var isInCode = false
        for (line, text) in zip(1..., document.lines) {
            if text.hasPrefix("```") { isInCode.toggle() }
            guard !isInCode else { continue }
            for match in text.matches(of: /\]\(([^)\s]+)\)/) {
                let target = match.1.prefix { $0 != "#" }
                guard !target.contains(":") else { continue }
                let path = URL(fileURLWithPath: "/\(folder)/\(target)").standardizedFileURL.path
                links.append(
                    Link(
                        line: line,
                        path: target.isEmpty ? document.path : String(path.dropFirst()),
                        anchor: String(match.1.dropFirst(target.count + 1))
                    )
                )
            }
        }
        return links
    }

    /// The anchors of a document's headings, as they are made where it is shown.
    private static func anchors(of document: SourceFile) -> Set<String> {
        var anchors: Set<String> = []
        for line in document.lines where line.hasPrefix("#") {
            let words = line.drop { $0 == "#" || $0 == " " }.lowercased()
                .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == " " }
            anchors.insert(words.replacing(" ", with: "-"))
        }
        return anchors
    }

    /// A path of this repository that stands between backticks exists.
    @Test func everyPathInBackticksExists() throws {
        let places = [
            "Services/", "Shared/", "Tools/", "Tests/", "Examples/", "deploy/", "docs/", ".github/",
        ]
        let names = Set(Repository.swiftFiles.map(\.name))
        var findings = Findings()
        var count = 0
        for document in Repository.documents {
            var isInCode = false
            for (line, text) in zip(1..., document.lines) {
                if text.hasPrefix("```") { isInCode.toggle() }
                guard !isInCode else { continue }
                for match in text.matches(of: /`([^`\s]+)`/) {
                    let path = String(match.1)
                    if places.contains(where: path.hasPrefix) {
                        // Capitals, stars and brackets stand for what the reader puts there.
                        guard !path.contains(/[*<{…]|[A-Z]{3}/) else { continue }
                        count += 1
                        if !Repository.exists(path) {
                            findings.add(document, line, "there is no \(path)")
                        }
                    } else if path.contains(/^[A-Za-z0-9+_]+\.swift$/), !names.contains(path) {
                        findings.add(document, line, "there is no file \(path)")
                    }
                }
            }
        }
        findings.report()
        #expect(count > 50, "the search finds the paths that there are")
    }

    @Test func everyLibraryHasItsLandingPage() throws {
        var findings = Findings()
        let libraries = try Repository.libraries()
        for library in libraries {
            let path = "Shared/\(library)/\(library).docc/\(library).md"
            if !Repository.exists(path) { findings.add(path, "write the library's landing page") }
        }
        findings.report()
        #expect(libraries.count > 15)
    }

    /// A rule is kept by a test that is there, or the table says that there is none.
    @Test func everyTestThatARuleNamesIsThere() throws {
        let path = "Shared/PaymentQueue/PaymentQueue.docc/Rules.md"
        let document = try Repository.file(path)
        let references = try TestReferences()
        var findings = Findings()
        var rules: [Int] = []
        for (line, text) in zip(1..., document.lines) {
            guard let rule = text.firstMatch(of: /^\| ([0-9]+) \|/).flatMap({ Int($0.1) }) else {
                continue
            }
            rules.append(rule)
            let column = text.split(separator: "|").last ?? ""
            let tests =
                column.hasPrefix(" none: ")
                ? [] : column.matches(of: /`([^`]+)`/).map { String($0.1) }
            for test in tests {
                if let problem = references.problem(with: test) {
                    findings.add(document, line, problem)
                }
            }
            if tests.isEmpty, !column.hasPrefix(" none: ") {
                findings.add(document, line, "name a test, or say none and why")
            }
        }
        findings.report()
        #expect(rules == Array(1...77) + Array(89...108) + Array(111...129))
    }

    @Test func theReadmeAndTheArchitectureAreShort() throws {
        let readme = try Repository.file("README.md")
        #expect(readme.lines.count <= 91, "README.md: keep it to 90 lines")
        let architecture = try Repository.file("ARCHITECTURE.md")
        #expect(architecture.lines.count <= 251, "ARCHITECTURE.md: keep it to 250 lines")
    }

    @Test func everyMakeTargetIsExplained() throws {
        var findings = Findings()
        let makefile = try Repository.file("Makefile")
        var count = 0
        for (line, text) in zip(1..., makefile.lines)
        where text.contains(/^[a-z-]+:/) && !text.contains(/^[a-z-]+: [A-Z]+ =/) {
            count += 1
            if !text.contains("## ") {
                findings.add(makefile, line, "say what it does: target: ## Words")
            }
        }
        findings.report()
        #expect(count > 20, "the search finds the targets that there are")
    }
}

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
        for document in Repository.documents {
            let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
            var isInCode = false
            for (line, text) in zip(1..., document.lines) {
                if text.hasPrefix("```") { isInCode.toggle() }
                guard !isInCode else { continue }
                for match in text.matches(of: /\]\(([^)\s]+)\)/) {
                    let target = match.1.prefix { $0 != "#" }
                    guard !target.isEmpty, !target.contains(":") else { continue }
                    let path = URL(fileURLWithPath: "/\(folder)/\(target)").standardizedFileURL.path
                    if !Repository.exists(String(path.dropFirst())) {
                        findings.add(document, line, "there is no \(target) from here")
                    }
                }
            }
        }
        findings.report()
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
        for (line, text) in zip(1..., makefile.lines)
        where text.contains(/^[a-z]+:/) && !text.contains("## ")
            && !text.contains(/^[a-z]+: [A-Z]+ =/)
        {
            findings.add(makefile, line, "say what it does: target: ## Words")
        }
        findings.report()
    }
}

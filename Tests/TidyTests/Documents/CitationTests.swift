import Foundation
import Testing

/// Citations in comments and documents can be looked up in this repository.
@Suite struct CitationTests {
    @Test func everyCitedRuleIsInTheSpecification() throws {
        let specification = try Specification(Repository.file("docs/specification.md"))
        var findings = Findings()
        var cited = 0
        for file in Repository.swiftFiles + Repository.documents
        where file.path != specification.path && !file.path.hasPrefix("Tests/TidyTests/") {
            for citation in Citation.all(in: file) {
                cited += 1
                for missing in citation.targets where !specification.holds(missing) {
                    findings.add(
                        file,
                        citation.line,
                        "\(specification.path) has no \(missing.kind.rawValue) \(missing.label)"
                    )
                }
            }
        }
        findings.report()
        #expect(cited > 100, "the search finds the citations that there are")
    }

    /// Rules of subscriptions have numbers such as S82, and rows of their table such as e11.
    @Test func everyCitedRuleOfSubscriptionsIsInTheirDocument() throws {
        let document = try Repository.file("docs/subscriptions.md")
        let label = /\b(?:S[0-9]+|e[0-9]+)\b/.wordBoundaryKind(.simple)
        var defined: Set<Substring> = []
        for line in document.lines where line.hasPrefix("| ") {
            let name = line.dropFirst(2).prefix { $0 != "|" }
            defined.formUnion(name.matches(of: label).map(\.output))
        }
        // The text below the table names the rows of what the store does not do.
        for line in document.lines where !line.hasPrefix("| ") {
            defined.formUnion(line.matches(of: label).map(\.output).filter { $0.hasPrefix("e") })
        }
        let folders = [
            "Shared/Subscriptions/", "Shared/EventTypes/Subscriptions/",
            "Tests/SubscriptionsTests/",
        ]
        var findings = Findings()
        var cited = 0
        for file in Repository.swiftFiles where folders.contains(where: file.path.hasPrefix) {
            for (number, line) in zip(1..., file.lines) {
                for found in line.matches(of: label).map(\.output) {
                    cited += 1
                    if !defined.contains(found) {
                        findings.add(file, number, "\(document.path) has no \(found)")
                    }
                }
            }
        }
        // Elsewhere S1 may be anything, so only a line that says "rule S1" cites one.
        for file in Repository.swiftFiles + Repository.documents
        where file.path != document.path && !file.path.hasPrefix("Tests/TidyTests/") {
            for (number, line) in zip(1..., file.lines)
            where line.holdsAny(of: ["ule S", "ules S"])
                && line.contains(/\b[Rr]ules? S[0-9]/)
            {
                for found in line.matches(of: label).map(\.output)
                where found.hasPrefix("S") && !defined.contains(found) {
                    findings.add(file, number, "\(document.path) has no \(found)")
                }
            }
        }
        findings.report()
        #expect(cited > 100, "the search finds the citations that there are")
    }

    @Test func aCitationThatLeadsNowhereIsFound() throws {
        let specification = try Specification(Repository.file("docs/specification.md"))
        let text = """
            /// Nothing here (spec rule 131, spec rules 12 and 999, spec
            /// section 2.9, spec X9, traps 56 to 58) stands in it; spec rule 53 does.
            """
        let missing = Citation.all(in: SourceFile(path: "Sample.swift", text: text))
            .flatMap(\.targets).filter { !specification.holds($0) }.map(\.label)
        #expect(missing.sorted() == ["131", "2.9", "58", "999", "X9"])
    }

    /// A comment on a declaration begins with a noun or a verb: "The offset …", "Reads …".
    @Test func noDocumentationBeginsWithAQuestion() {
        var findings = Findings()
        for file in Repository.swiftFiles {
            for (line, text) in zip(1..., file.lines)
            where text.holdsAny(of: ["/// What", "/// How", "/// Where"])
                && text.contains(/^ *\/\/\/ (?:What|How|Where)\b/)
            {
                let isFirst = line == 1 || !file.lines[line - 2].contains("///")
                if isFirst { findings.add(file, line, "begin with a noun or a verb") }
            }
        }
        findings.report()
    }

    @Test func everyDecisionIsNumberedAndListed() throws {
        let index = try Repository.file("docs/decisions/README.md").text
        let names = try Repository.names(in: "docs/decisions").filter { $0 != "README.md" }
        var findings = Findings()
        for (number, name) in zip(1..., names) {
            let path = "docs/decisions/\(name)"
            let file = try Repository.file(path)
            let start = String(format: "%04d-", number)
            if !name.hasPrefix(start) { findings.add(path, "its name begins with \(start)") }
            if file.lines.first?.hasPrefix("# \(number). ") != true {
                findings.add(path, "its title begins with \"# \(number). \"")
            }
            let headings = file.lines.filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
            let expected: [Substring] = [
                "Context", "Decision", "Consequences", "What would change our mind",
            ]
            if headings != expected {
                findings.add(path, "its headings are \(expected.joined(separator: ", "))")
            }
            if !index.contains("(\(name))") { findings.add(path, "list it in README.md") }
        }
        findings.report()
        #expect(names.count >= 27)
    }
}

/// The numbers that the specification defines.
private struct Specification {
    let path: String
    private var targets: Set<Citation.Target> = []

    init(_ document: SourceFile) {
        path = document.path
        var kind = Citation.Kind.rule
        for text in document.lines {
            if let heading = text.firstMatch(of: /^##+ ([0-9]+(?:\.[0-9]+)?)[ .]/) {
                targets.insert(Citation.Target(kind: .section, label: String(heading.1)))
            }
            if text.hasPrefix("## ") { kind = text.contains("Traps") ? .trap : .rule }
            guard let row = text.firstMatch(of: /^\| (X?[0-9]+)(?:–([0-9]+))? \|/) else { continue }
            let first = String(row.1)
            targets.insert(Citation.Target(kind: kind, label: first))
            if let from = Int(first), let to = row.2.flatMap({ Int($0) }) {
                for number in from...to {
                    targets.insert(Citation.Target(kind: kind, label: String(number)))
                }
            }
        }
    }

    func holds(_ target: Citation.Target) -> Bool { targets.contains(target) }
}

/// A place that cites the specification.
private struct Citation {
    enum Kind: String { case rule, section, trap }

    struct Target: Hashable {
        let kind: Kind
        let label: String
    }

    let line: Int
    let targets: [Target]

    /// The citations of a file, of which one may go on in the next line of a comment.
    static func all(in file: SourceFile) -> [Citation] {
        var found: [Citation] = []
        for (number, text) in zip(1..., file.lines) {
            let next = number < file.lines.count ? file.lines[number] : ""
            guard mayCite(text) else { continue }
            let whole = text + " " + next.drop { " /#*".contains($0) }
            for match in whole.matches(of: pattern) {
                let start = whole.distance(from: whole.startIndex, to: match.range.lowerBound)
                guard start < text.count else { break }
                let kind: Kind =
                    match.1.lowercased().contains("trap")
                    ? .trap : match.1.contains("section") ? .section : .rule
                found.append(
                    Citation(line: number, targets: targets(of: String(match.2), kind: kind))
                )
            }
        }
        return found
    }

    /// Whether a line can hold a citation's first word; most cannot, and the pattern is slow.
    private static func mayCite(_ text: String) -> Bool {
        text.holdsAny(of: ["spec", "Spec", "trap", "Trap"])
    }

    private static var pattern: Regex<(Substring, Substring, Substring)> {
        /((?:[Ss]pec (?:rules?|sections?|(?=X))|\b[Tt]raps?)) ?(X?[0-9]+(?:\.[0-9]+)?(?:(?:, | and | to )(?:and )?X?[0-9]+(?:\.[0-9]+)?)*)/
    }

    /// "61 to 63, 67 and X4" names 61, 62, 63, 67 and X4.
    private static func targets(of list: String, kind: Kind) -> [Target] {
        var found: [Target] = []
        for part in list.replacing(" and ", with: ", ").replacing(", , ", with: ", ")
            .split(separator: ", ")
        {
            let ends = part.components(separatedBy: " to ")
            if ends.count == 2, let from = Int(ends[0]), let to = Int(ends[1]), from <= to {
                found += (from...to).map { Target(kind: kind, label: String($0)) }
            } else {
                found += ends.map { Target(kind: kind, label: $0) }
            }
        }
        return found
    }
}

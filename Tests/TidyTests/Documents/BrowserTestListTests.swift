import Foundation
import Testing

/// The README of the browser's tests lists each of them, and no others.
@Suite struct BrowserTestListTests {
    private static let folder = "Tests/Browser"

    @Test func theReadmeListsAllTestsInABrowser() throws {
        var findings = Findings()
        let readme = try Repository.file("\(Self.folder)/README.md")
        var tests: Set<String> = []
        for name in try Repository.names(in: Self.folder) where name.hasSuffix(".py") {
            let file = try Repository.file("\(Self.folder)/\(name)")
            for (line, test) in Self.tests(in: file.lines) {
                tests.insert(test)
                if !readme.text.contains("`\(test)`") {
                    findings.add(file, line, "\(test) is not in the README")
                }
            }
        }
        for (line, name) in Self.listed(in: readme.lines) where !tests.contains(name) {
            findings.add(readme, line, "there is no test \(name)")
        }
        findings.report()
        #expect(tests.count > 70, "the search finds the tests that there are")
    }

    @Test func aTestInABrowserIsFoundByItsMark() {
        let lines = ["@test", "def it_is_so(stage):", "def help(stage):", "# @test", "def no(a):"]
        #expect(Self.tests(in: lines).map { $0.name } == ["it_is_so"])
        let row = "| it is so | `it_is_so`, `c1_it_is`; `make browser`, `OtherTests` |"
        #expect(Self.listed(in: [row]).map { $0.name } == ["it_is_so", "c1_it_is"])
    }

    /// The functions in Python that are marked as tests, with the lines of their names.
    private static func tests(in lines: [String]) -> [(line: Int, name: String)] {
        zip(2..., zip(lines, lines.dropFirst())).compactMap { number, pair in
            guard pair.0 == "@test", let found = pair.1.firstMatch(of: /^def (\w+)\(/) else {
                return nil
            }
            return (line: number, name: String(found.1))
        }
    }

    /// The names in code type that have the form of a test's.
    private static func listed(in lines: [String]) -> [(line: Int, name: String)] {
        zip(1..., lines).flatMap { number, line in
            line.matches(of: /`([a-z0-9]+(?:_[a-z0-9]+)+)`/).map {
                (line: number, name: String($0.1))
            }
        }
    }
}

import Foundation
import Testing

/// The version is written in one place, and everything that names it agrees.
@Suite struct VersionTests {
    @Test func newestReleaseOfTheChangelogIsTheVersion() throws {
        let changelog = try Repository.file("CHANGELOG.md")
        let releases = changelog.lines.compactMap {
            $0.firstMatch(of: /^## \[?([0-9]+\.[0-9]+\.[0-9]+)/).map { String($0.1) }
        }
        #expect(try releases.first == Self.version)
    }

    @Test func imagesHaveTheVersion() throws {
        var findings = Findings()
        let version = try Self.version
        var count = 0
        for file in try Self.deployments {
            for (line, text) in zip(1..., file.lines) {
                let tag = text.firstMatch(of: /(?:counterfoil\/[a-z]+:|newTag: )([0-9][0-9a-z.]*)/)
                guard let tag else { continue }
                count += 1
                if tag.1 != version { findings.add(file, line, "the version is \(version)") }
            }
        }
        findings.report()
        #expect(count > 20, "the search finds the tags that there are")
    }

    @Test func packagesAreAskedForTheVersion() throws {
        var findings = Findings()
        let version = try Self.version
        for path in [
            "Shared/PaymentQueue/PaymentQueue.docc/PaymentQueue.md", "Examples/Shop/README.md",
            "deploy/check/client-package",
        ] {
            let file = try Repository.file(path)
            let asked = zip(1..., file.lines).compactMap { line, text in
                text.firstMatch(of: /from: "([0-9][^"]*)"/).map { (line, String($0.1)) }
            }
            #expect(!asked.isEmpty, "\(path) asks for no version")
            for (line, other) in asked where other != version {
                findings.add(file, line, "the version is \(version)")
            }
        }
        findings.report()
    }

    @Test func noOtherSourceHasTheVersion() throws {
        var findings = Findings()
        let literal = "\"\(try Self.version)\""
        for file in Repository.swiftFiles where file.isProduct && file.path != Self.place {
            for (line, text) in file.code where text.contains(literal) {
                findings.add(file, line, "take CounterfoilVersion.current")
            }
        }
        findings.report()
    }

    private static let place = "Shared/StoreAPI/CounterfoilVersion.swift"

    private static var version: String {
        get throws {
            let source = try Repository.file(place).text
            return String(try #require(source.firstMatch(of: /current = "([^"]+)"/)).1)
        }
    }

    private static var deployments: [SourceFile] {
        get throws {
            try ["docker-compose.yml"].map(Repository.file)
                + ["deploy/kubernetes", "deploy/kubernetes/shop"].flatMap {
                    folder -> [SourceFile] in
                    try Repository.names(in: folder).filter { $0.hasSuffix(".yaml") }
                        .map { try Repository.file("\(folder)/\($0)") }
                }
        }
    }
}

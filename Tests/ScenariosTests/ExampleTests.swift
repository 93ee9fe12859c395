import Foundation
import Testing

@testable import Scenarios

/// The files in `Examples/scenarios`.
@Suite struct ExampleTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Examples/scenarios")

    private static let files = {
        // An unreadable folder shows as a list without files, which the test refuses.
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).sorted()
    }()

    @Test(arguments: files) func eachExampleIsReadAndExpectsSomething(file: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
        #expect(text.hasPrefix("# yaml-language-server: $schema=../../docs/scenario.schema.json\n"))
        let scenario = try ScenarioReader.read(text)
        #expect(ScenarioPlan(scenario).factCount > 0)
    }

    @Test func thereAreExamplesWithDifferentSentences() throws {
        let names = try Self.files.map { file in
            try ScenarioReader.read(
                try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            ).name
        }
        #expect(names.count >= 20)
        #expect(Set(names).count == names.count)
    }
}

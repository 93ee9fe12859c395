import Foundation
import Testing
import TestSupport

extension EndToEnd {
    /// Scenario files, played on a store.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct ScenarioFiles {
        private static let examples = SourceTree.root.appending(path: "Examples/scenarios")

        private func play(_ arguments: [String]) async throws -> String {
            try await ChildProcess.run(
                try BuiltExecutables.path("devstore"),
                ["scenario"] + arguments,
                environment: ProcessInfo.processInfo.environment
            )
        }

        @Test func everyExampleBecomesTrueOnOneStore() async throws {
            let files = try FileManager.default.contentsOfDirectory(
                at: Self.examples,
                includingPropertiesForKeys: nil
            ).map(\.path).sorted()
            try #require(files.count >= 13)
            let report = FileManager.default.temporaryDirectory
                .appending(path: "scenarios-\(UUID().uuidString).xml")
            // The command exits with 1 if a step fails or a fact does not become true.
            let output = try await play(files + ["--junit", report.path])
            let sum = "\(files.count) scenarios: \(files.count) passed, 0 failed, 0 skipped."
            #expect(output.contains(sum), "\(output)")
            let xml = try String(contentsOf: report, encoding: .utf8)
            for file in files { #expect(xml.contains("file=\"\(file)\""), "\(file)") }
            try FileManager.default.removeItem(at: report)
        }

        @Test func aStoryThatDoesNotBecomeTrueFailsWithItsLines() async throws {
            let file = FileManager.default.temporaryDirectory
                .appending(path: "wrong-\(UUID().uuidString).yaml")
            try Data(Self.wrong.utf8).write(to: file)
            let error = await #expect(throws: HarnessError.self) {
                _ = try await play([file.path, "--timeout", "3"])
            }
            let output = error?.description ?? ""
            #expect(output.contains("ended with exit code 1"), "\(output)")
            for finding in [
                "\(file.path):7: the states of 'coins' on 'phone': "
                    + "expected purchasing, failed, observed purchasing, purchased",
                "\(file.path):8: the coins of 'ada': expected 99, observed 100",
            ] {
                #expect(output.contains(finding), "\(output)")
            }
            try FileManager.default.removeItem(at: file)
        }

        private static let wrong = """
            scenario: The store must not agree
            products:
              coins: {type: consumable, price: 0.99 USD, credits: {coins: 100}}
            steps:
              - buy: coins
              - expect:
                  queue: {coins: [purchasing, failed]}
                  credits: {ada: {coins: 99}}
                  owns: {ada: []}
            """
    }
}

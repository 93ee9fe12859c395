import Foundation
import Testing
import TestSupport

extension EndToEnd {
    /// Scenario files, played on a store.
    @Suite(
        .serialized,
        .onlySandbox("It pays with the sandbox's payment methods.")
    )
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
            try #require(files.count >= 20)
            let report = FileManager.default.temporaryDirectory
                .appending(path: "scenarios-\(UUID().uuidString).xml")
            // The command exits with 1 if a step fails or a fact does not become true.
            // A year of all these subscriptions takes a busy machine more than the usual half minute.
            let options = ["--junit", report.path, "--timeout", "150"]
            let output = try await play([Self.examples.path] + options)
            let sum = "\(files.count) scenarios: \(files.count) passed, 0 failed, 0 skipped."
            #expect(output.contains(sum), "\(output)")
            let xml = try String(contentsOf: report, encoding: .utf8)
            for file in files { #expect(xml.contains("file=\"\(file)\""), "\(file)") }
            try FileManager.default.removeItem(at: report)
        }

        @Test func anOperatorPlaysWhatTheSandboxOffers() async throws {
            try await withStore { store in
                let file = store.directory + "/wrong.yaml"
                try Data(Self.wrong.utf8).write(to: URL(fileURLWithPath: file))
                let examples = Self.examples.path
                let report = store.directory + "/scenarios.xml"
                let answer = try await store.counterfoil(
                    "scenario",
                    "run",
                    "\(examples)/refund.yaml",
                    "\(examples)/approval-expires.yaml",
                    "\(examples)/payments-is-killed.yaml",
                    file,
                    "--ledger",
                    "--timeout",
                    "5",
                    "--junit",
                    report
                )
                #expect(answer.exit == .code(1), "\(answer)")
                for line in [
                    "✓ A refund takes the product away, and its reversal gives it back",
                    "skipped, as it needs a clock that can be set",
                    "skipped, as it needs services that can be killed",
                    "  \(file):7: the states of 'coins' on 'phone': "
                        + "expected purchasing, failed, observed purchasing, purchased",
                    "  \(file):8: the coins of 'ada': expected 99, observed 100",
                    "4 scenarios: 1 passed, 1 failed, 2 skipped.",
                ] {
                    #expect(answer.output.contains(line), "\(answer)")
                }
                let xml = try String(contentsOfFile: report, encoding: .utf8)
                #expect(xml.contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""))
                // The key of the merchant's server, which signs offers, is among the others.
                let clock = try await store.counterfoil(
                    "scenario",
                    "run",
                    "\(examples)/approval-expires.yaml",
                    "\(examples)/subscription-offers.yaml",
                    "--clock",
                    "--json"
                )
                #expect(clock.exit == .code(0), "\(clock)")
                #expect(clock.output.contains(#""outcome" : "passed""#), "\(clock)")
                #expect(!clock.output.contains("skipped"), "\(clock)")
            }
        }

        @Test func anyServerIsCheckedAtOneAddress() async throws {
            try await withStore { store in
                let front = try await StoreFront.start(for: store.urls)
                let file = store.directory + "/wrong.yaml"
                try Data(Self.wrong.utf8).write(to: URL(fileURLWithPath: file))
                let examples = Self.examples.path
                let files = ["a-purchase", "refund", "approval-expires"].map {
                    "\(examples)/\($0).yaml"
                }
                let check = ["scenario", "check", front.url] + files
                // Facts about the ledger are left out, because nobody shows it.
                let right = try await store.counterfoil(check)
                #expect(right.exit == .code(0), "\(right)")
                for line in [
                    "✓ A purchase is delivered, signed and finished once (",
                    "✓ A refund takes the product away, and its reversal gives it back (",
                    "skipped, as it needs a clock that can be set", "facts were left out",
                    "3 scenarios: 2 passed, 0 failed, 1 skipped.",
                ] {
                    #expect(right.output.contains(line), "\(right)")
                }
                let wrong = try await store.counterfoil(check + [file, "--timeout", "10"])
                #expect(wrong.exit == .code(1), "\(wrong)")
                #expect(wrong.output.contains("  \(file):8: the coins of 'ada': expected 99"))
                #expect(wrong.output.contains("4 scenarios: 2 passed, 1 failed, 1 skipped."))
                await front.stop()
            }
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

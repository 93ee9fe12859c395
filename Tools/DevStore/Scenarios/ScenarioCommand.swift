import ArgumentParser
import Foundation
import Scenarios
import StoreHarness

/// `devstore scenario`: plays scenario files on a temporary store.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Plays scenario files on a temporary store.",
        discussion: """
            Starts one temporary store for all files, and plays one after the other, each with \
            accounts of its own. docs/scenarios.md describes the files. Exits with 1 if a step \
            fails or an expected fact does not become true in time, with its file and line.

            Examples:
              devstore scenario Examples/scenarios/refund.yaml --steps
              devstore scenario Examples/scenarios --junit scenarios.xml
            """
    )

    @Argument(help: "The files, in YAML or JSON, or folders of them.", completion: .file())
    var files: [String]

    @Option(help: "A seed in place of those in the files.")
    var seed: UInt64?

    @Option(help: "The time limit of each step and each expectation, in seconds.")
    var timeout = 30

    @Option(help: "Write the results to this file as JUnit's XML.", completion: .file())
    var junit: String?

    @Flag(help: "Print each step.")
    var steps = false

    func validate() throws {
        guard (1...3600).contains(timeout) else {
            throw ValidationError("--timeout must be from 1 to 3600 seconds.")
        }
    }

    func run() async throws {
        let texts = try ScenarioFile.paths(files).map { path in
            (path: path, text: try String(contentsOfFile: path, encoding: .utf8))
        }
        let scenarios = try ScenarioFile.read(texts)
        let terminal = Terminal()
        try await terminal.perform {
            let reports = try await play(scenarios, terminal)
            if let junit {
                try JUnitReport.text(reports)
                    .write(toFile: junit, atomically: true, encoding: .utf8)
            }
            if reports.contains(where: \.hasFailed) { throw ExitCode(1) }
        }
    }

    private func play(
        _ scenarios: [ScenarioFile],
        _ terminal: Terminal
    ) async throws -> [ScenarioReport] {
        terminal.heading("A store for these scenarios")
        var options = StoreOptions()
        options.processor = .sandbox
        options.progress = terminal.progress
        return try await withStore(options) { store in
            terminal.heading("Scenarios")
            let merchant = try await HarnessMerchant(of: store)
            let faults = try await HarnessFaults(in: store)
            let player = ScenarioPlayer(
                ScenarioStore(of: store, merchant: merchant, faults: faults),
                limit: .seconds(timeout)
            )
            var reports: [ScenarioReport] = []
            for scenario in scenarios {
                let report = try await player.play(scenario, seed: seed) { [steps] step in
                    if steps { terminal.line("    \(step.line): \(step.action)", .dim) }
                }
                terminal.show(report)
                reports.append(report)
            }
            await faults.end()
            await merchant.end()
            terminal.line()
            terminal.line(ScenarioReport.summary(reports) + ".")
            return reports
        }
    }
}

extension Terminal {
    /// Shows the outcome of a scenario.
    fileprivate func show(_ report: ScenarioReport) {
        let style: Terminal.Style =
            report.hasFailed ? .red : report.wasSkipped ? .yellow : .green
        for (index, text) in report.lines.enumerated() { line(text, index == 0 ? style : .plain) }
    }
}

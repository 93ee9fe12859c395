import Foundation
import Testing

@testable import Scenarios

/// Reports of runs, for people and for build servers.
@Suite struct ScenarioReportTests {
    private func report(
        _ outcome: ScenarioReport.Outcome,
        leftOutCount: Int = 0
    ) -> ScenarioReport {
        ScenarioReport(
            path: "stories/a.yaml",
            name: "A story with <\"signs\"> & more",
            seed: 7,
            accountSuffix: "-1f3a09c2",
            outcome: outcome,
            leftOutCount: leftOutCount,
            time: .milliseconds(1040)
        )
    }

    private var reports: [ScenarioReport] {
        let findings = [
            ScenarioReport.Finding(
                line: 9,
                message: "what 'ada' owns: expected pro, observed none"
            ),
            ScenarioReport.Finding(line: 12, message: "a \u{1} in an answer"),
        ]
        return [report(.passed), report(.failed(findings)), report(.skipped([.merchant, .clock]))]
    }

    @Test func aReportNamesFileLineSeedAndAccounts() {
        #expect(
            reports.map(\.lines) == [
                ["✓ A story with <\"signs\"> & more (1.040 s)"],
                [
                    "✗ A story with <\"signs\"> & more (1.040 s)",
                    "  stories/a.yaml:9: what 'ada' owns: expected pro, observed none",
                    "  stories/a.yaml:12: a \u{1} in an answer",
                    "  The seed was 7. The accounts' names in the store end with -1f3a09c2.",
                ],
                [
                    "- A story with <\"signs\"> & more: skipped, as it needs a clock that can be set, "
                        + "a merchant's server that the store can reach"
                ],
            ]
        )
        let summary = ScenarioReport.summary(reports)
        #expect(summary == "3 scenarios: 1 passed, 1 failed, 1 skipped")
    }

    @Test func aReportSaysThatFactsWereLeftOut() {
        let report = report(.passed, leftOutCount: 2)
        let sentence = "2 facts were left out"
        #expect(report.lines == ["✓ A story with <\"signs\"> & more (1.040 s; \(sentence))"])
        #expect(JUnitReport.text([report]).contains("<system-out>\(sentence)</system-out>"))
    }

    @Test func junitHasATestCaseForEachFile() throws {
        let text = JUnitReport.text(reports)
        let lines = text.split(separator: "\n")
        #expect(lines.first == #"<?xml version="1.0" encoding="UTF-8"?>"#)
        #expect(lines[1].contains(#"tests="3" failures="1" errors="0" skipped="1" time="3.120""#))
        #expect(lines.count { $0.contains("<testcase ") } == 3)
        #expect(text.contains(#"name="A story with &lt;&quot;signs&quot;&gt; &amp; more""#))
        #expect(text.contains(#"<failure message="what 'ada' owns: expected pro, observed none">"#))
        #expect(text.contains("a \u{FFFD} in an answer"))
        #expect(text.contains("<skipped message=\"it needs a clock that can be set, a merchant's"))
    }

    @Test func theMistakesOfAllFilesAreReportedTogether() {
        let texts = [
            (path: "a.yaml", text: "scenario: x\nsteps: []"),
            (path: "b.yaml", text: "scenario: x"),
            (path: "c.yaml", text: "scenario: x\nsteps: [{by: coins}]"),
        ]
        #expect(
            throws: ScenarioFileProblems(lines: [
                "b.yaml:1:1: 'steps' is missing",
                "c.yaml:2:9: there is no step 'by'; did you mean 'buy'?",
            ])
        ) {
            try ScenarioFile.read(texts)
        }
    }

    @Test func aFolderStandsForItsScenarioFilesByName() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "stories-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(throws: ScenarioFileProblems(lines: ["\(folder): there are no scenario files"])) {
            try ScenarioFile.paths([folder])
        }
        for name in ["b.yml", "a.yaml", "c.json", "notes.md"] {
            try Data().write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let files = ["a.yaml", "b.yml", "c.json"].map { folder + "/" + $0 }
        #expect(
            try ScenarioFile.paths(["x.yaml", folder, folder + "/"]) == ["x.yaml"] + files + files
        )
        try FileManager.default.removeItem(atPath: folder)
    }

    private static let restores: [(Set<String>, Set<String>, [String])] = [
        (["pro"], [], ["tablet"]), (["pro", "map"], ["pro"], ["tablet"]), ([], ["pro"], []),
        (["pro"], ["map"], []),
    ]

    @Test(arguments: restores)
    func aDeviceThatRestoredTooLittleRestoresAgain(
        expected: Set<String>,
        observed: Set<String>,
        devices: [String]
    ) {
        let subject = ScenarioSubject.restored(device: "tablet")
        let fact = ScenarioFact(line: 1, subject: subject, expected: .set(expected))
        let differences = ScenarioComparison.differences([fact], [subject: .set(observed)])
        #expect(ScenarioComparison.devicesToRestore(differences) == devices)
    }
}

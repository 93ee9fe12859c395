import Rebuild
import Testing

@testable import Operator
@testable import OperatorCore

/// The report of a proof, as people read it.
@Suite struct VerificationReportTests {
    private func report(_ lines: RebuildLine...) -> VerificationReport {
        var report = VerificationReport(["payments"])
        for line in lines { report.take(line, of: "payments") }
        return report
    }

    @Test func withoutDifferencesItSaysSoOfAllRowsAndTables() {
        let report = report(
            .table(name: "transactions", rows: 12_345, differences: 0),
            .table(name: "ledger_postings", rows: 12_345, differences: 0),
            .done(events: 24_700, contradictions: 0, applyingMilliseconds: 700, milliseconds: 900)
        )
        #expect(report.verdict == "0 differences in 24,690 rows of 2 tables")
        #expect(report.services[0].isComplete)
        #expect(
            report.text(.plain) == """
                  service   table              rows  differences
                  payments  transactions     12,345            0
                  payments  ledger_postings  12,345            0
                """
        )
    }

    @Test func rowsThatAreNotListedAreCounted() {
        let report = report(
            .table(name: "transactions", rows: 3000, differences: 2000),
            .done(events: 9000, contradictions: 5000, applyingMilliseconds: 1, milliseconds: 2)
        )
        #expect(report.verdict == "7,000 differences in 3,000 rows of 1 tables")
    }

    @Test func aServiceThatDidNotComeToItsEndIsNotComplete() {
        let report = report(.table(name: "transactions", rows: 1, differences: 0))
        #expect(!report.services[0].isComplete)
    }
}

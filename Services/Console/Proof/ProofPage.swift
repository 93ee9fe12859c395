import OperatorCore
import Rebuild

/// A proof: how far it is, what was compared, and what differs.
///
/// Pure.
struct ProofPage {
    /// The place to go on from.
    static let back = ConsoleProblem.Back(path: "/proofs", words: "Back to the proofs")
    /// The most differences of a service on the page.
    private static let shownMax = 100

    let record: JobRecord
    let fields: [String: NowField]
    let visitor: Visitor

    var html: HTML {
        PageFrame(
            title: "Proof",
            visitor: visitor,
            live: JobPage.path(of: record) + "/live",
            stamp: JobPage.stamp(of: record),
            isFollowedWithoutEnd: true
        ).page(
            """
            \(JobPage.head(of: record, fields, Self.facts))
            \(ActDialog.row(JobPage.stop(record, by: visitor, "<p>It ends, and proves nothing.</p>")))
            \(findings)\(JobPage.decisions(of: record))
            <p><a href="/proofs">All proofs</a></p>
            """
        )
    }

    private static let facts = OperatedService.allCases.map {
        JobPage.Fact(key: "proof.\($0.rawValue)", words: $0.rawValue)
    }

    private var findings: HTML {
        guard let report = record.report else { return "" }
        let tone = report.differenceCount == 0 ? "good" : "bad"
        return """
            <p class="verdict tone-\(tone)" id="verdict" data-differences="\(report.differenceCount)">\(report.verdict).</p>
            \(report.services.filter { !$0.lines.isEmpty }.map(differences))
            <section aria-labelledby="tables"><h2 id="tables">What was compared</h2>
            <table class="card"><thead><tr><th scope="col">Table</th><th scope="col">Rows</th>\
            <th scope="col">Differences</th></tr></thead>
            <tbody>\(report.services.flatMap(rows))</tbody></table>
            </section>
            """
    }

    private func differences(of service: VerificationReport.Service) -> HTML {
        let rows: [HTML] = service.differences.prefix(Self.shownMax).flatMap(row)
        let contradictions: [HTML] = service.contradictionLines.prefix(Self.shownMax).map {
            "<li>\($0)</li>"
        }
        let list: HTML =
            contradictions.isEmpty ? "" : "<ul class=\"problems\">\(contradictions)</ul>"
        let found = service.differenceCount
        let shown = rows.count + contradictions.count
        let rest: HTML =
            found > service.differences.prefix(Self.shownMax).count + contradictions.count
            ? "<p class=\"dim\">\(found.grouped) in all; the first \(shown.grouped) lines are shown.</p>"
            : ""
        return """
            <section aria-labelledby="in-\(service.name)"><h2 id="in-\(service.name)">What differs in \(service.name)</h2>
            \(list)\(rows.isEmpty ? "" : table(rows))\(rest)</section>
            """
    }

    private func table(_ rows: [HTML]) -> HTML {
        """
        <table class="card"><thead><tr><th scope="col">Row</th><th scope="col">Column</th><th scope="col">Live</th>\
        <th scope="col">By the log</th></tr></thead><tbody>\(rows)</tbody></table>
        """
    }

    private func row(_ difference: VerificationReport.Difference) -> [HTML] {
        let name: HTML = "<th scope=\"row\">\(difference.table) \(difference.key)</th>"
        switch difference.row.kind {
        case .missing:
            return ["<tr>\(name)<td>the row</td><td>is missing</td><td>is there</td></tr>"]
        case .notInTheLog:
            return ["<tr>\(name)<td>the row</td><td>is there</td><td>is missing</td></tr>"]
        case .changed:
            return difference.row.columns.map { column in
                """
                <tr>\(name)<td>\(column.name)</td>\
                <td><del>\(VerificationReport.Difference.shown(column.live))</del></td>\
                <td><ins>\(VerificationReport.Difference.shown(column.log))</ins></td></tr>
                """
            }
        }
    }

    private func rows(of service: VerificationReport.Service) -> [HTML] {
        service.tables.map { table in
            """
            <tr><th scope="row">\(service.name) \(table.name)</th><td>\(table.rows.grouped)</td>\
            <td class="tone-\(table.differences == 0 ? "plain" : "bad")">\(table.differences.grouped)</td></tr>
            """
        }
    }
}

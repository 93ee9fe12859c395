import EventTypes
import OperatorCore
import StoreAPI

/// A reconciliation: how far it is, what was compared, and where the books disagree.
///
/// Pure.
struct ReconciliationPage {
    /// The place to go on from.
    static let back = ConsoleProblem.Back(
        path: "/reconciliations",
        words: "Back to the reconciliations"
    )

    private static let facts = [
        JobPage.Fact(key: "sent", words: "transactions and subscriptions compared"),
        JobPage.Fact(key: "rate", words: "rate"),
    ]

    let record: JobRecord
    let fields: [String: NowField]
    let visitor: Visitor

    var html: HTML {
        PageFrame(
            title: "Reconciliation",
            visitor: visitor,
            live: JobPage.path(of: record) + "/live",
            stamp: JobPage.stamp(of: record),
            isFollowedWithoutEnd: true
        ).page(
            """
            \(JobPage.head(of: record, fields, Self.facts))
            \(ActDialog.row(JobPage.stop(record, by: visitor, "<p>It ends without a result.</p>")))
            \(record.reconciliation.map(findings))\(JobPage.decisions(of: record))
            <p><a href="/reconciliations">All reconciliations</a></p>
            """
        )
    }

    /// The result of a reconciliation in a few words.
    static func verdict(_ found: Reconciliation) -> String {
        let count = differenceCount(of: found)
        let compared = "\(found.compared.grouped) transactions compared"
        guard count > 0 else { return "All books agree, \(compared)" }
        return "\(count.grouped) \(count == 1 ? "difference" : "differences"), \(compared)"
    }

    private static func differenceCount(of found: Reconciliation) -> Int {
        found.lost + found.doubled + found.wrong
    }

    private func findings(_ found: Reconciliation) -> HTML {
        let count = Self.differenceCount(of: found)
        return """
            <p class="verdict tone-\(count == 0 ? "good" : "bad")" id="verdict" data-differences="\(count)">\
            \(Self.verdict(found)).</p>
            \(found.balanceNote.map { "<p class=\"problem\">\($0)</p>" as HTML })
            \(Difference.Kind.allCases.map { kind in section(kind, found) })
            <section aria-labelledby="books"><h2 id="books">What was compared</h2>
            \(books(found))
            <p class="dim">Until \(PlainWords.second(found.until)). \(found.onTheirWay.grouped) changed later and are left \
            out. \((found.subscriptions ?? 0).grouped) subscriptions were audited.</p>
            </section>
            """
    }

    private func section(_ kind: Difference.Kind, _ found: Reconciliation) -> HTML {
        guard let count = found.differenceCounts[kind.rawValue] else { return "" }
        let shown = found.differences.filter { $0.kind == kind.rawValue }
        let lines: [HTML] = shown.map { "<li>\(subject(of: $0)): \($0.detail)</li>" }
        let more: HTML =
            count > shown.count
            ? "<p class=\"dim\">\(shown.count.grouped) of \(count.grouped) are shown here.</p>" : ""
        return """
            <section aria-labelledby="kind-\(kind.rawValue)">
            <h2 id="kind-\(kind.rawValue)">\(count.grouped) \(kind.title)</h2>
            <p>\(kind.advice)</p>
            <ul class="problems">\(lines)</ul>\(more)
            </section>
            """
    }

    private func subject(of difference: Reconciliation.Difference) -> HTML {
        guard let id = difference.transactionID else {
            return "\(difference.subject ?? "the store")"
        }
        return visitor.maySee(.purchases) ? "<a href=\"/purchases/\(id)\">\(id)</a>" : "\(id)"
    }

    private func books(_ found: Reconciliation) -> HTML {
        let rows: [HTML] = [
            row("payments", found.purchased), row("processor", found.processor),
            row("ledger", found.postings), row("receipts", found.receipts),
            row("deliveries", found.deliveries),
        ]
        return """
            <table class="card"><thead><tr><th scope="col">Book</th><th scope="col">Records</th>\
            <th scope="col">Sums</th></tr></thead><tbody>\(rows)</tbody></table>
            """
    }

    private func row(_ name: String, _ total: Reconciliation.Total) -> HTML {
        let sums = total.amounts.sorted { $0.key < $1.key }.map { currency, amount in
            "\(Money(minorUnits: amount, currency: Currency(unchecked: currency)))"
        }
        return """
            <tr><th scope="row">\(name)</th><td>\(total.count.grouped)</td><td>\(sums.joined(separator: ", "))</td></tr>
            """
    }
}

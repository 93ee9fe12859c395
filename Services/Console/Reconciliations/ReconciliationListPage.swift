import OperatorCore
import StoreAPI

/// The reconciliations, and the button that begins one.
///
/// Pure.
struct ReconciliationListPage {
    let records: [JobRecord]
    let visitor: Visitor
    /// Whether this console keeps jobs at all.
    let canReconcile: Bool
    /// The number of records that cannot be read.
    var unreadableCount = 0

    var html: HTML {
        PageFrame(title: "Reconciliations", visitor: visitor).page(
            """
            <p class="dim">A reconciliation compares the books of the services with each other, and with the processor’s \
            list: each purchase must be charged, posted, signed, delivered and reported once. The store goes on meanwhile.</p>
            \(begin)
            <section aria-labelledby="reconciliations"><h2 id="reconciliations">Reconciliations of this console</h2>
            \(JobPage.unreadable(unreadableCount))
            \(JobPage.list(records) { $0.reconciliation.map(ReconciliationPage.verdict) ?? "reconciliation" })
            </section>
            <p><a href="/proofs">Proofs compare the books with the event log</a></p>
            """
        )
    }

    private var begin: HTML {
        guard visitor.mayAct(as: .operator) else { return "" }
        guard canReconcile else {
            return """
                <p class="problem">Nothing can be reconciled here: a reconciliation needs the setting \
                CONSOLE_STATE_DIRECTORY. The command “counterfoil reconcile” reconciles, too.</p>
                """
        }
        return ActDialog.row([
            ActDialog(
                id: "reconcile",
                words: "Reconcile the books",
                explanation: """
                    <p>A reconciliation reads all books once. In a large store that takes a while. What changed within the \
                    last minute is left out.</p>
                    """,
                action: "/reconciliations",
                by: visitor
            )
        ])
    }
}

import OperatorCore
import StoreAPI

/// The proofs, and the button that begins one.
///
/// Pure.
struct ProofListPage {
    let records: [JobRecord]
    let visitor: Visitor
    /// Whether this console can prove at all.
    let canProve: Bool
    /// The number of records that cannot be read.
    var unreadableCount = 0

    var html: HTML {
        PageFrame(title: "Proofs", visitor: visitor).page(
            """
            <p class="dim">A proof rebuilds the books of every service from the event log, in databases of its own, and \
            compares them with the live ones. The store goes on meanwhile.</p>
            \(begin)
            <section aria-labelledby="proofs"><h2 id="proofs">Proofs that were made</h2>
            \(JobPage.unreadable(unreadableCount))
            \(JobPage.list(records) { $0.report?.verdict ?? "proof" })
            </section>
            <p><a href="/seals">The seals of the logs</a></p>
            <p><a href="/reconciliations">Reconciliations compare the books with each other</a></p>
            """
        )
    }

    private var begin: HTML {
        guard visitor.mayAct(as: .operator) else { return "" }
        guard canProve else {
            return """
                <p class="problem">Nothing can be proved here: a proof needs the settings CONSOLE_STATE_DIRECTORY and \
                COUNTERFOIL_SHADOW_DATABASE_URL. The command “counterfoil replay --verify” proves, too. With --tell-console \
                its findings are shown below. In Kubernetes the job prove does both once a week.</p>
                """
        }
        return ActDialog.row([
            ActDialog(
                id: "prove",
                words: "Prove the books",
                explanation: "<p>It reads every log once. In a large store that takes a while.</p>",
                action: "/proofs",
                by: visitor
            )
        ])
    }
}

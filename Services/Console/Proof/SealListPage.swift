import OperatorCore

/// The newest seal of each month of the logs, in the form that `counterfoil verify --heads` reads.
///
/// Pure.
struct SealListPage {
    let heads: [SealHead]
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Seals", visitor: visitor).page(
            """
            <p class="dim">Each service seals the events that it publishes, and payments its ledger, too. The seals of a month \
            are a chain: each is a digest of some rows and of the seal before it. Below is the newest seal of each month.</p>
            \(list)
            <p class="dim">Whoever can change every table can also write new seals. So keep these lines in another place. \
            Later, “counterfoil verify --heads FILE” says whether the logs still have them.</p>
            <p><a href="/proofs">All proofs</a></p>
            """
        )
    }

    private var list: HTML {
        guard !heads.isEmpty else {
            return """
                <p class="empty">Nothing is sealed yet: no service has published an event.</p>
                """
        }
        let lines = heads.map(\.description).joined(separator: "\n")
        return "<pre id=\"heads\" tabindex=\"0\">\(lines)</pre>"
    }
}

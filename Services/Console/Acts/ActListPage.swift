import EventTypes
import OperatorCore

/// The list of who did what, why, and when.
///
/// Pure.
struct ActListPage {
    /// The kinds that can be chosen, with the words for them.
    static let kinds: [(kind: ActKind, words: String)] = [
        (.buyers, "about buyers"), (.refunds, "refunds"), (.approvals, "approvals"),
        (.subscriptions, "subscriptions"), (.families, "families"), (.accounts, "accounts"),
        (.products, "products"), (.codes, "codes"), (.deadLetters, "dead letters"),
        (.jobs, "replays, proofs, reconciliations and raises"),
    ]

    let found: ActPage
    let query: ActQuery
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Acts", visitor: visitor).page("\(filter)\(rows)\(older)\(archived)")
    }

    private var filter: HTML {
        let kinds = Self.kinds.filter { $0.kind != .jobs || visitor.maySeeAnyJobs }
        let options: [HTML] = kinds.map { kind, words in
            let selected: HTML = kind == query.kind ? " selected" : ""
            return "<option value=\"\(kind.rawValue)\"\(selected)>\(words)</option>"
        }
        return """
            <form class="filter" action="/acts">
            <label for="kind">Acts</label><select id="kind" name="kind">\(options)</select>
            <label for="by">of</label>
            <input id="by" name="by" value="\(query.administrator)" placeholder="everybody" autocomplete="off" spellcheck="false">
            <label for="key">Account or product</label>
            <input id="key" name="key" value="\(query.key)" placeholder="all" autocomplete="off" spellcheck="false">
            <button>Show</button>
            </form>
            """
    }

    private var rows: HTML {
        guard !found.acts.isEmpty else {
            guard found.next == nil else {
                return
                    "<p class=\"empty\" role=\"status\">There are none among the 5,000 acts that were looked at.</p>"
            }
            return
                "<p class=\"empty\" role=\"status\">There are no such acts. What buyers do themselves is not listed here.</p>"
        }
        return "<ol class=\"rows\">\(found.acts.map(row))</ol>"
    }

    private var archived: HTML {
        guard let month = found.archivedMonth else { return "" }
        return """
            <p class="dim" id="archived">Acts up to \(month) are in the files of the archive, not here. Whoever operates \
            the store can read them there.</p>
            """
    }

    private func row(_ act: RecordedAct) -> HTML {
        let reason: HTML =
            act.act.reason.map { "<span>“\($0)”</span>" }
            ?? "<span class=\"dim\">no reason given</span>"
        return """
            <li class="card row">
            <strong>\(act.act.decidedBy)</strong> <span class="what">\(act.words)</span> \(reason)
            <span class="dim"><time datetime="\(act.time)">\(PlainWords.second(act.time))</time>, \(link(of: act))\
            \(account(of: act))</span>
            </li>
            """
    }

    private func link(of act: RecordedAct) -> HTML {
        switch act.subject {
        case .purchase(let id): "<a href=\"/purchases/\(id)\">purchase \(id)</a>"
        case .subscription(let id): "<a href=\"/subscriptions/\(id)\">subscription \(id)</a>"
        case .product(let id):
            visitor.maySee(.products)
                ? "<a href=\"\(PlainWords.path(ofProduct: id))\">product \(id)</a>"
                : "product \(id)"
        case .group(let id): "group \(id)"
        case .family(let id): "family \(id)"
        case .account(let id):
            "<a href=\"\(PlainWords.path(ofAccount: id.rawValue))\">account \(id)</a>"
        case .campaign(let id):
            visitor.maySee(.products)
                ? "<a href=\"/codes/\(id)\">campaign \(id)</a>" : "campaign \(id)"
        case .deadLetter(let service, let id):
            "<a href=\"/dead-letters/\(service.rawValue)/\(id)\">dead letter \(id) of \(service.rawValue)</a>"
        case .replay(let id): "<a href=\"/replays/\(id)\">replay \(id)</a>"
        case .proof(let id): "<a href=\"/proofs/\(id)\">proof \(id)</a>"
        case .raise(let id): "<a href=\"/raises/\(id)\">raise \(id)</a>"
        case .reconciliation(let id):
            "<a href=\"/reconciliations/\(id)\">reconciliation \(id)</a>"
        }
    }

    private func account(of act: RecordedAct) -> HTML {
        switch act.subject {
        case .product, .group, .account, .campaign, .replay, .proof, .raise, .reconciliation:
            return ""
        case .purchase, .subscription, .family, .deadLetter: break
        }
        guard AccountID(rawValue: act.key) != nil else { return ", \(act.key)" }
        return ", <a href=\"\(PlainWords.path(ofAccount: act.key))\">\(act.key)</a>"
    }

    private var older: HTML {
        guard let next = found.next else { return "" }
        let fields = [
            ("kind", query.kind.rawValue), ("by", query.administrator), ("key", query.key),
            ("before", next),
        ]
        return "<p><a href=\"/acts?\(PlainWords.query(fields))\">Older ones</a></p>"
    }
}

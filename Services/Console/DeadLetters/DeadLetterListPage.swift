import EventTypes
import OperatorCore

/// The accounts and products that have events which could not be applied.
///
/// Pure.
struct DeadLetterListPage {
    let keys: [(key: String, counts: [OpenLetters])]
    /// The last key, if there are more; `nil` on the last page.
    let next: String?
    let visitor: Visitor
    /// The machine's time.
    let now: MachineTime

    var html: HTML {
        PageFrame(title: "Dead letters", visitor: visitor).page(
            """
            <p class="dim">A service could not apply these events. Later events of the same account wait behind \
            them; other accounts go on.</p>
            \(rows)\(more)
            """
        )
    }

    /// The path of the page of a key.
    static func path(of key: String) -> String {
        "/dead-letters?" + PlainWords.query([("key", key)])
    }

    private var rows: HTML {
        guard !keys.isEmpty else {
            return "<p class=\"empty tone-good\" role=\"status\">There are no dead letters.</p>"
        }
        let lines: [HTML] = keys.map { key, counts in
            """
            <li class="card row"><a href="\(Self.path(of: key))">\(key)</a>\(counts.map(words))</li>
            """
        }
        return "<ol class=\"rows\">\(lines)</ol>"
    }

    private func words(for count: OpenLetters) -> HTML {
        let parked = count.parked == 0 ? "" : ", \(count.parked.grouped) parked behind"
        let asked = count.isAsked ? "; a redrive is asked for" : ""
        return """
            <span class="tone-\(count.dead > 0 ? "bad" : "warn")">\(count.service): \(count.dead.grouped) dead\(parked)\
            \(asked)</span>
            <span class="dim">the first one for \(Age(of: count.since, at: now))</span>
            """
    }

    private var more: HTML {
        guard let next else { return "" }
        return "<p><a href=\"/dead-letters?\(PlainWords.query([("after", next)]))\">More</a></p>"
    }
}

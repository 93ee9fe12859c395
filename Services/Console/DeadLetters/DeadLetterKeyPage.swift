import EventTypes
import OperatorCore
import StoreAPI

/// The dead letters of one account or product, in the order in which they will be applied.
///
/// Pure.
struct DeadLetterKeyPage {
    let key: String
    let queues: [(service: OperatedService, queue: LetterQueue)]
    let visitor: Visitor
    /// The machine's time.
    let now: MachineTime
    /// The act that was just done; `nil` if the page was opened otherwise.
    var done: Act?

    /// The acts that come back to this page.
    enum Act: String, Sendable { case redrive, discard }

    var html: HTML {
        PageFrame(title: "Dead letters of \(key)", visitor: visitor).page(
            """
            \(notice)
            \(account)
            \(nothing)
            \(acts)
            \(queues.map { section($0.service, $0.queue) })
            <p><a href="/dead-letters">All dead letters</a></p>
            """
        )
    }

    private var notice: HTML {
        let isOver = queues.isEmpty
        let words: String? =
            switch done {
            case .redrive where isOver: "Every event was applied, in order."
            case .redrive:
                "The services were asked. What is still here was refused again, or waits for its service."
            case .discard:
                "The event is discarded. Those parked behind it are applied within a second."
            case nil: nil
            }
        return words.map { "<p class=\"notice\" role=\"status\">\($0)</p>" } ?? ""
    }

    private var nothing: HTML {
        guard queues.isEmpty else { return "" }
        return "<p class=\"tone-good\" role=\"status\">Nothing of \(key) is dead or parked.</p>"
    }

    private var account: HTML {
        guard visitor.maySee(.purchases), AccountID(rawValue: key) != nil else { return "" }
        return "<p><a href=\"\(PlainWords.path(ofAccount: key))\">The account \(key)</a></p>"
    }

    private var acts: HTML {
        guard visitor.mayAct(as: .operator), !queues.isEmpty else { return "" }
        let count = queues.map(\.queue.count).reduce(0, +)
        return ActDialog.row([
            ActDialog(
                id: "redrive",
                words: "Redrive",
                explanation: """
                    <p>The services apply the \(count.grouped) \(count == 1 ? "event" : "events") of \
                    <strong>\(key)</strong> again, in order, or say why they cannot. Fix the cause first.</p>
                    """,
                fields: """
                    <input type="hidden" name="key" value="\(key)">
                    <label for="redrive-typed">Type \(key)</label>
                    <input id="redrive-typed" name="typed" required autocomplete="off" spellcheck="false">
                    """,
                action: "/dead-letters/redrive",
                by: visitor
            )
        ])
    }

    private func section(_ service: OperatedService, _ queue: LetterQueue) -> HTML {
        let rest = queue.count - queue.dead.count - queue.parked.count
        let more: HTML =
            rest > 0 ? "<p class=\"dim\">\(rest.grouped) more wait behind these.</p>" : ""
        return """
            <section aria-labelledby="in-\(service.rawValue)"><h2 id="in-\(service.rawValue)">\(service.rawValue)</h2>
            <ol class="rows">\(queue.dead.map(row))\(queue.parked.map(row))</ol>
            \(more)
            </section>
            """
    }

    private func row(_ letter: RecordedDeadLetter) -> HTML {
        let asked = letter.redriveRequestedAt == nil ? "" : ", redrive asked"
        return """
            <li class="card row" data-state="\(letter.state)">
            <a href="/dead-letters/\(letter.service)/\(letter.id)">\(letter.type)</a>
            <span class="tone-\(letter.state == "dead" ? "bad" : "warn")">\(letter.state)\(asked)</span>
            <span>about \(letter.subject)</span>
            <span class="dim">for \(Age(of: letter.recordedAt, at: now)): \(PlainWords.firstLine(letter.reason))</span>
            </li>
            """
    }
}

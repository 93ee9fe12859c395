import EventTypes
import Foundation
import OperatorCore
import StoreAPI
import StoreTracing

/// One dead letter: the event, why it could not be applied, and its data for those who may see it.
///
/// Pure.
struct DeadLetterPage {
    let letter: RecordedDeadLetter
    /// The data of the event; `nil` if the visitor may not see it.
    let data: Data?
    let visitor: Visitor
    /// The machine's time.
    let now: MachineTime

    var html: HTML {
        PageFrame(title: "Dead letter \(letter.id) of \(letter.service)", visitor: visitor).page(
            """
            <section class="card" aria-label="The event">\(facts)</section>
            \(acts)
            <section aria-labelledby="reason"><h2 id="reason">Why it could not be applied</h2>
            <pre tabindex="0">\(letter.reason)</pre></section>
            <section aria-labelledby="data"><h2 id="data">Its data</h2>\(content)</section>
            <p><a href="\(DeadLetterListPage.path(of: letter.key))">All dead letters of \(letter.key)</a></p>
            """
        )
    }

    private var facts: HTML {
        var lines: [(String, HTML)] = [
            ("state", "<span id=\"state\">\(letter.state)</span>"),
            ("event", "\(letter.type)"), ("event id", "\(letter.eventID)"),
            ("about", about), ("key", "\(letter.key)"),
            ("from", "\(letter.topic), partition \(letter.partition), offset \(letter.offset)"),
            ("happened", "\(PlainWords.moment(letter.time))"),
            ("recorded", "\(Age(of: letter.recordedAt, at: now)) ago"),
        ]
        if let time = letter.redriveRequestedAt {
            lines.append(("redrive asked", "\(PlainWords.moment(time))"))
        }
        if let time = letter.settledAt { lines.append(("settled", "\(PlainWords.moment(time))")) }
        if let act = letter.act { lines.append(("decided", "\(act)")) }
        if let trace = letter.traceparent?.traceID { lines.append(("trace", "\(trace)")) }
        let rows: [HTML] = lines.map { "<div><dt>\($0)</dt><dd>\($1)</dd></div>" }
        return "<dl class=\"facts\">\(rows)</dl>"
    }

    private var about: HTML {
        guard visitor.maySee(.purchases), letter.topic.hasPrefix("payments."),
            let id = TransactionID(rawValue: letter.subject)
        else { return "\(letter.subject)" }
        return "<a href=\"/purchases/\(id)\">\(id)</a>"
    }

    private var content: HTML {
        guard let data else {
            return "<p class=\"empty\">Your key lacks the scope operator, which shows the data.</p>"
        }
        let text = EventText.text(of: data.prefix(StoreDesk.dataLengthMax))
        let isCut = data.count > StoreDesk.dataLengthMax
        let more: HTML =
            isCut
            ? "<p class=\"dim\">This is not all. “counterfoil dead-letters show” prints it.</p>"
            : ""
        return "<pre id=\"payload\" tabindex=\"0\">\(text)</pre>\(more)"
    }

    private var acts: HTML {
        guard visitor.mayAct(as: .operator), letter.isOpen else { return "" }
        return ActDialog.row([
            ActDialog(
                id: "discard",
                words: "Discard",
                explanation: """
                    <p>The event never takes effect. For a purchase that may mean that <strong>\(letter.key)</strong> \
                    has paid for nothing, so look at the purchase first.</p>
                    """,
                fields: """
                    <label for="discard-typed">Type \(letter.service) \(letter.id)</label>
                    <input id="discard-typed" name="typed" required autocomplete="off" spellcheck="false">
                    """,
                action: "/dead-letters/\(letter.service)/\(letter.id)/discard",
                by: visitor
            )
        ])
    }
}

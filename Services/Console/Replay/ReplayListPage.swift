import EventTypes
import OperatorCore
import StoreAPI

/// The replays, and the form that plans one.
///
/// Pure.
struct ReplayListPage {
    let records: [JobRecord]
    let visitor: Visitor
    /// Whether this console can replay at all.
    let canReplay: Bool
    /// The number of records that cannot be read.
    var unreadableCount = 0

    var html: HTML {
        PageFrame(title: "Replays", visitor: visitor).page(
            """
            <p class="dim">A replay sends events of the logs to their topics again. Consumers recognise what they have \
            applied, so nothing happens twice. It is planned first, and sends nothing before you say so.</p>
            \(form)
            <section aria-labelledby="replays"><h2 id="replays">Replays of this console</h2>
            \(JobPage.unreadable(unreadableCount))
            \(JobPage.list(records) { $0.order.map(Self.words) ?? "" })
            </section>
            """
        )
    }

    /// The selection in words.
    static func words(for order: ReplayOrder) -> String {
        let selection = order.selection
        let parts: [(String, [String])] = [
            ("topic", selection.topics), ("type", selection.types), ("account", selection.accounts),
            ("transaction", selection.transactions), ("event", selection.events),
            ("since", selection.since.map { ["\($0)"] } ?? []),
            ("until", selection.until.map { ["\($0)"] } ?? []),
            ("for", order.consumer.map { [$0] } ?? []),
        ]
        let words = parts.filter { !$0.1.isEmpty }
            .map { "\($0.0) \($0.1.joined(separator: ", "))" }
        return words.isEmpty ? "all events" : words.joined(separator: "; ")
    }

    private var form: HTML {
        guard visitor.mayAct(as: .operator) else { return "" }
        guard canReplay else {
            return """
                <p class="problem">Nothing can be replayed here: a replay needs the settings CONSOLE_STATE_DIRECTORY \
                and KAFKA_BOOTSTRAP_SERVERS. The command “counterfoil replay” replays, too.</p>
                """
        }
        let topics = options(Topics.all.map(\.name), first: "all topics")
        let consumers = options(
            Set(Topics.all.flatMap(\.consumers).map(\.rawValue)).sorted(),
            first: "all consumers"
        )
        return """
            <form class="editor card" method="post" action="/replays">
            <fieldset><legend>Which events; what is empty selects all</legend>
            <label>Topic <select name="topic">\(topics)</select></label>
            \(field("type", "Type, such as transaction.purchased.v1"))
            \(field("account", "Account or product"))\(field("transaction", "Transaction"))
            \(field("event", "Event"))
            \(field("since", "Since, in UTC, such as 2026-11-21T14:00:00Z"))\(field("until", "Before, in UTC"))
            </fieldset>
            <fieldset><legend>To whom, and how fast</legend>
            <label>Consumer <select name="consumer">\(consumers)</select></label>
            <label>Events per second <input name="rate" inputmode="numeric" required value="500"></label>
            </fieldset>
            \(visitor.csrfField)<button>Plan it; nothing is sent</button>
            </form>
            """
    }

    private func field(_ name: String, _ words: String) -> HTML {
        """
        <label>\(words) <input name="\(name)" autocomplete="off" spellcheck="false"></label>
        """
    }

    private func options(_ names: [String], first: String) -> HTML {
        let lines: [HTML] = names.map { "<option value=\"\($0)\">\($0)</option>" }
        return "<option value=\"\">\(first)</option>\(lines)"
    }
}

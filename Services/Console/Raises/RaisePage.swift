import EventTypes
import OperatorCore
import StoreAPI

/// A raise of the price for those who subscribe already: how many they are, and how far it is.
///
/// Pure.
struct RaisePage {
    private static let facts = [
        JobPage.Fact(key: "sent", words: "looked at"), JobPage.Fact(key: "rate", words: "rate"),
        JobPage.Fact(key: "left", words: "left"),
    ]

    let record: JobRecord
    let work: RaiseWork
    let fields: [String: NowField]
    let visitor: Visitor

    /// A raise in words.
    static func words(for work: RaiseWork) -> String {
        "\(work.productID) in \(work.storefront) to \(work.price)"
            + (work.effectiveAt.map { " from \(PlainWords.second($0)) on" } ?? "")
    }

    /// The values that change while the page is open, beside those of the bar.
    static func fields(of work: RaiseWork) -> [String: NowField] {
        [
            "raised": NowField(work.counts.raised.grouped),
            "others": NowField(work.counts.others.grouped),
            "waiting": NowField(
                work.counts.waiting.grouped,
                work.counts.waiting == 0 ? .plain : .warn
            ),
        ]
    }

    var html: HTML {
        PageFrame(
            title: "Raise of \(work.productID)",
            visitor: visitor,
            live: JobPage.path(of: record) + "/live",
            stamp: JobPage.stamp(of: record),
            isFollowedWithoutEnd: true
        ).page(
            """
            <p>It raises the price of one period of \(Self.words(for: work)).</p>
            \(JobPage.head(of: record, fields, Self.facts))
            \(outcome)
            \(ActDialog.row(dialogs))
            \(record.begunAt == nil ? "" : numbers)\(JobPage.decisions(of: record))
            <p><a href="\(RaiseFormPage.path(of: work.productID))">All raises of the product</a></p>
            """
        )
    }

    /// The count, or what was done.
    private var outcome: HTML {
        switch record.state {
        case .planned:
            guard let count = work.counted?.raised, count > 0 else {
                return
                    "<p class=\"empty\" id=\"counted\">Nobody in \(work.storefront) pays less than \(work.price).</p>"
            }
            return """
                <p class="verdict" id="counted">\(count.grouped) subscriptions would be raised to \(work.price) in \
                \(work.storefront).</p>
                """
        case .done:
            return """
                <p class="notice" id="raised">\(work.counts.raised.grouped) subscriptions are raised.</p>
                <p>People who subscribed meanwhile are not among them. Do it again for them, with the same time.</p>
                """
        case .planning:
            return """
                <p>Subscriptions looked at so far: \
                <span data-field="sent" class="tone-plain">\(fields["sent"]?.text ?? "0")</span></p>
                """
        case .running, .stopped, .interrupted, .failed: return ""
        }
    }

    private var dialogs: [ActDialog] {
        guard visitor.mayAct(as: .merchandiser) else { return [] }
        if record.state == .planned, let count = work.counted?.raised, count > 0 {
            return [
                ActDialog(
                    id: "run",
                    words: "Raise them",
                    explanation: """
                        <p>The store asks or informs each subscriber, by the rules of the country.</p>
                        """,
                    fields: """
                        <label for="typed">Type the number of subscriptions, \(count)</label>
                        <input id="typed" name="typed" required inputmode="numeric" autocomplete="off">
                        """,
                    action: "\(JobPage.path(of: record))/run",
                    by: visitor
                )
            ]
        }
        guard record.canResume else {
            let effect: HTML =
                record.state == .planning
                ? "<p>Nothing was changed so far. A count that is stopped is begun again.</p>"
                : "<p>Whoever was raised so far stays raised. It can go on later.</p>"
            return JobPage.stop(record, by: visitor, as: .merchandiser, effect)
        }
        return [
            ActDialog(
                id: "resume",
                words: "Go on",
                explanation: "<p>It goes on where it was. No price is raised twice.</p>",
                action: "\(JobPage.path(of: record))/resume",
                by: visitor
            )
        ]
    }

    private var numbers: HTML {
        let fields = Self.fields(of: work)
        let lines: [HTML] = [
            ("raised", "raised"), ("others", "others, ended ones among them"),
            ("waiting", "wait, because an earlier raise is being charged"),
        ].map { name, words in
            let field = fields[name] ?? NowField("unknown", .warn)
            return """
                <div><dt>\(words)</dt><dd><span data-field="\(name)" class="tone-\(field.tone.rawValue)">\
                \(field.text)</span></dd></div>
                """
        }
        return "<dl class=\"card facts\">\(lines)</dl>"
    }
}

import OperatorCore
import StoreAPI

/// A replay: its selection, its plan, and how far it is.
///
/// Pure.
struct ReplayPage {
    private static let facts = [
        JobPage.Fact(key: "sent", words: "sent"), JobPage.Fact(key: "rate", words: "rate"),
        JobPage.Fact(key: "left", words: "left"),
    ]

    let record: JobRecord
    let fields: [String: NowField]
    let visitor: Visitor
    /// Whether this console can replay at all.
    let canReplay: Bool

    var html: HTML {
        PageFrame(
            title: "Replay",
            visitor: visitor,
            live: JobPage.path(of: record) + "/live",
            stamp: JobPage.stamp(of: record),
            isFollowedWithoutEnd: true
        ).page(
            """
            <p>It sends \(record.order.map(ReplayListPage.words) ?? ""), at most \
            \((record.order?.rate ?? 0).grouped) events a second.</p>
            \(JobPage.head(of: record, fields, Self.facts))
            \(ActDialog.row(dialogs))
            \(plan)\(JobPage.decisions(of: record))
            <p><a href="/replays">All replays</a></p>
            """
        )
    }

    private var dialogs: [ActDialog] {
        let stop = JobPage.stop(
            record,
            by: visitor,
            "<p>It stops after the events that are on their way. It can go on later.</p>"
        )
        guard visitor.mayAct(as: .operator), canReplay, let plan = record.plan, plan.total > 0
        else {
            return stop
        }
        let target = record.order?.consumer ?? "every consumer"
        if record.state == .planned {
            return [
                dialog(
                    "Send",
                    "run",
                    "<p>\(plan.total.grouped) events are sent to \(target) again.</p>",
                    """
                    <label for="typed">Type the number of events, \(plan.total)</label>
                    <input id="typed" name="typed" required inputmode="numeric" autocomplete="off">\(skip(plan))
                    """
                )
            ]
        }
        guard record.canResume else { return stop }
        return [dialog("Go on", "resume", "<p>It goes on after the last event that was sent.</p>")]
    }

    /// The box that says that events which cannot be read are skipped.
    private func skip(_ plan: ReplayPlan) -> HTML {
        let count = plan.refused.values.reduce(0, +)
        guard count > 0 else { return "" }
        return """
            <label><input type="checkbox" name="skip" value="true" required> \
            Skip the events that cannot be read: \(count.grouped)</label>
            """
    }

    private func dialog(
        _ words: String,
        _ act: String,
        _ effect: HTML,
        _ fields: HTML = ""
    ) -> ActDialog {
        ActDialog(
            id: act,
            words: words,
            explanation: effect,
            fields: fields,
            action: "\(JobPage.path(of: record))/\(act)",
            by: visitor
        )
    }

    private var plan: HTML {
        guard let plan = record.plan else { return "" }
        return """
            <section aria-labelledby="plan"><h2 id="plan">The plan</h2>
            <p><strong id="events">\(plan.events.grouped)</strong> events of \(plan.keys.grouped) accounts or products\
            \(span(of: plan)).</p>
            <ul class="problems">\(owed(plan))\(refused(plan))</ul>
            <table class="card"><caption>Events by type</caption>
            <thead><tr><th scope="col">Topic and type</th><th scope="col">Events</th></tr></thead>
            <tbody>\(rows(of: plan))</tbody></table>
            </section>
            """
    }

    private func span(of plan: ReplayPlan) -> String {
        guard let first = plan.first, let last = plan.last else { return "" }
        return ", from \(PlainWords.second(first)) to \(PlainWords.second(last))"
    }

    private func owed(_ plan: ReplayPlan) -> [HTML] {
        plan.unapplied.sorted { $0.key < $1.key }.map { reader, count in
            count == 0
                ? "<li class=\"tone-good\">\(reader) has applied all of them and would do nothing</li>"
                : "<li class=\"tone-warn\">\(reader) has not applied \(count.grouped) of them and would apply them</li>"
        }
    }

    private func refused(_ plan: ReplayPlan) -> [HTML] {
        plan.refused.sorted { $0.key < $1.key }.map { reason, count in
            "<li class=\"tone-bad\">\(count.grouped) are not sent: \(reason)</li>"
        }
    }

    private func rows(of plan: ReplayPlan) -> [HTML] {
        plan.topics.sorted { $0.key < $1.key }.flatMap { topic, types in
            types.sorted { $0.key < $1.key }.map { type, count in
                """
                <tr><th scope="row">\(topic)<br>\(type)</th><td data-count="\(type)">\(count.grouped)</td></tr>
                """
            }
        }
    }
}

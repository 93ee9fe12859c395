import EventTypes
import OperatorCore
import StoreAPI

/// The parts that the pages of all jobs have: the state, who decided what, and a list.
///
/// Pure.
enum JobPage {
    /// The state in words, with its tone.
    static func words(for record: JobRecord) -> NowField {
        switch record.state {
        case .planning where record.kind == .raise:
            NowField("counting the subscriptions; nothing is changed", .warn)
        case .planned where record.kind == .raise:
            NowField("counted; nothing was changed", .plain)
        case .planning: NowField("reads the logs; nothing is sent", .warn)
        case .planned: NowField("planned; nothing was sent", .plain)
        case .running: NowField("under way", .warn)
        case .stopped: NowField("stopped", .warn)
        case .interrupted:
            NowField("interrupted: the console stopped while it was under way", .warn)
        case .failed: NowField("could not go on", .bad)
        case .done: NowField("through", .good)
        }
    }

    /// The stamp of a record, which changes with it.
    static func stamp(of record: JobRecord) -> String { "\(record.version)" }

    /// The path of a job's page.
    static func path(of record: JobRecord) -> String { "/\(record.kind.rawValue)s/\(record.id)" }

    /// The state, the bar while it is under way, and the reason why it could not go on.
    static func head(of record: JobRecord, _ fields: [String: NowField], _ facts: [Fact]) -> HTML {
        let words = words(for: record)
        let problem: HTML? = record.problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" }
        return """
            <p class="verdict" role="status" id="state" data-state="\(record.state.rawValue)">It is \
            <span class="tone-\(words.tone.rawValue)">\(words.text)</span>.</p>
            \(problem)\(record.state == .running ? bar(of: record, fields, facts) : "")
            """
    }

    /// A value that changes while a job is under way.
    struct Fact {
        let key: String
        let words: String
    }

    private static func bar(
        of record: JobRecord,
        _ fields: [String: NowField],
        _ facts: [Fact]
    ) -> HTML {
        let lines: [HTML] = facts.map { fact in
            let field = fields[fact.key] ?? NowField("…")
            return """
                <div><dt>\(fact.words)</dt><dd><span data-field="\(fact.key)" class="tone-\(field.tone.rawValue)">\
                \(field.text)</span></dd></div>
                """
        }
        // A reconciliation does not know how much there is.
        let share: HTML =
            record.kind == .reconciliation
            ? ""
            : """
            <progress max="100" value="\(fields["share"]?.text ?? "0")" data-bar="share" aria-label="How far it is"></progress>

            """
        return "\(share)<dl class=\"card facts\">\(lines)</dl>"
    }

    /// The decisions, each with its person and its reason.
    static func decisions(of record: JobRecord) -> HTML {
        DecisionList.section(
            record.decisions.map { DecisionList.line($0.words, at: $0.time, by: $0.act) }
        )
    }

    /// The words about jobs whose records this version cannot read.
    static func unreadable(_ count: Int) -> HTML {
        guard count > 0 else { return "" }
        let words = count == 1 ? "The record of one job" : "The records of \(count) jobs"
        return """
            <p class="problem" role="status">\(words) cannot be read by this version. The console’s log names the \
            files. One of them may be a replay or a raise that is not finished.</p>
            """
    }

    /// A list of jobs.
    static func list(_ records: [JobRecord], _ words: (JobRecord) -> String) -> HTML {
        guard !records.isEmpty else { return "<p class=\"empty\">There are none yet.</p>" }
        let lines: [HTML] = records.map { record in
            let state = Self.words(for: record)
            let first = record.decisions.first
            return """
                <li class="card row"><a href="\(path(of: record))">\(words(record))</a>
                <span class="tone-\(state.tone.rawValue)">\(state.text)</span>
                <span class="dim">\(first.map { "\($0.act.decidedBy), \(PlainWords.second($0.time))" } ?? "")</span></li>
                """
        }
        return "<ol class=\"rows\">\(lines)</ol>"
    }

    /// The button that stops a job, with its dialog.
    static func stop(
        _ record: JobRecord,
        by visitor: Visitor,
        as scope: AdministratorScope = .operator,
        _ effect: HTML
    ) -> [ActDialog] {
        guard record.state.isWorking, visitor.mayAct(as: scope) else { return [] }
        return [
            ActDialog(
                id: "stop",
                words: "Stop",
                explanation: effect,
                action: path(of: record) + "/stop",
                by: visitor
            )
        ]
    }
}

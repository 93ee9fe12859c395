import EventTypes
import OperatorCore
import StoreAPI

/// The store's clock in a sandbox: what it shows, how far an advance is, and how to change it.
///
/// Pure.
struct ClockPage {
    let clock: ClockResponse
    let visitor: Visitor
    /// A new random key, under which an advance is made once.
    let key: String

    var html: HTML {
        PageFrame(
            title: "Clock",
            visitor: visitor,
            live: "/clock/live",
            stamp: Self.stamp(of: clock),
            isFollowedWithoutEnd: true
        ).page(
            """
            <dl class="card facts">\(facts)</dl>
            \(ActDialog.row(dialogs))
            <p class="dim">Subscriptions renew and end by this clock. Tokens and sessions end by the machines’.</p>
            """
        )
    }

    /// A text that differs when the acts that the page offers may differ.
    static func stamp(of clock: ClockResponse) -> String {
        "\(clock.step)-\(clock.mode.rawValue)-\(clock.status.rawValue)"
    }

    private var facts: [HTML] {
        let fields = ClockFields.fields(of: clock)
        return ClockFields.names.map { name, words in
            let field = fields[name] ?? NowField("unknown", .warn)
            return """
                <div><dt>\(words)</dt><dd><span data-field="\(name)" class="tone-\(field.tone.rawValue)">\
                \(field.text)</span></dd></div>
                """
        }
    }

    private var dialogs: [ActDialog] {
        guard visitor.mayAct(as: .operator) else { return [] }
        switch clock.status {
        case .advancing: return []
        case .failed:
            return [dialog("resume", "Resume the advance", "goes on from where it failed")]
        case .ready: break
        }
        var dialogs = [
            dialog(
                "advance",
                "Advance",
                "is advanced, and everything that falls due on the way is done",
                """
                <input type="hidden" name="key" value="\(key)">
                <label for="by">By a span, such as 31d, or to a time, such as 2027-03-01T12:00:00Z</label>
                <input id="by" name="by" required autocomplete="off" spellcheck="false">
                """
            ),
            dialog(
                "run",
                "Set the rate",
                "runs faster than the machines’",
                """
                <label for="rate">Rate; 1h=1d lets a day pass in an hour</label>
                <input id="rate" name="rate" required value="1h=1d" autocomplete="off" spellcheck="false">
                """
            ),
        ]
        if clock.mode != .frozen { dialogs.append(dialog("freeze", "Freeze", "stops")) }
        if clock.mode != .machines {
            dialogs.append(
                dialog("machines", "Run as the machines", "runs on at the machines’ rate")
            )
        }
        return dialogs
    }

    private func dialog(
        _ act: String,
        _ words: String,
        _ effect: String,
        _ fields: HTML = ""
    ) -> ActDialog {
        ActDialog(
            id: act,
            words: words,
            explanation: "<p>The store’s clock \(effect).</p>",
            fields: "<input type=\"hidden\" name=\"act\" value=\"\(act)\">\(fields)",
            action: "/clock",
            by: visitor,
            asksReason: false
        )
    }
}

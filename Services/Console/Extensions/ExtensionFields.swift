import EventTypes
import StoreAPI
import Subscriptions

/// The fields of a form that extends: the days and the kind of reason.
///
/// Pure.
enum ExtensionFields {
    /// The kinds of reason, as Apple numbers them, with the words for them.
    static let reasons: [(code: ExtensionRequest.ReasonCode, words: String)] = [
        (.serviceIssue, "the service had an outage"),
        (.customerSatisfaction, "to satisfy customers"),
        (.other, "another one"), (.undeclared, "not said"),
    ]

    /// The words for a kind of reason.
    static func words(for code: Int) -> String {
        reasons.first { $0.code.rawValue == code }?.words ?? "\(code)"
    }

    /// The fields, for a dialog or a form.
    static func html(in form: String) -> HTML {
        let options: [HTML] = reasons.map { code, words in
            "<option value=\"\(code.rawValue)\">\(words)</option>"
        }
        return """
            <label for="\(form)-days">Days, from 1 to \(RequestedExtension.daysMax)</label>
            <input id="\(form)-days" name="days" required inputmode="numeric" autocomplete="off">
            <label for="\(form)-code">Kind of reason, which the merchant’s server learns</label>
            <select id="\(form)-code" name="code">\(options)</select>
            """
    }

    /// Reads the days.
    static func days(
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> Int {
        guard let days = form["days"].flatMap({ Int($0) }),
            (1...RequestedExtension.daysMax).contains(days)
        else {
            throw refusal(
                "The number of days is a whole one from 1 to \(RequestedExtension.daysMax).",
                back
            )
        }
        return days
    }

    /// Reads the kind of reason.
    static func code(
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> ExtensionRequest.ReasonCode {
        guard
            let code = form["code"].flatMap({ Int($0) })
                .flatMap(ExtensionRequest.ReasonCode.init(rawValue:))
        else { throw refusal("Choose a kind of reason from the list.", back) }
        return code
    }

    /// The key under which `payments` extends a subscription once.
    ///
    /// It is the same for everybody who has seen this version of the subscription. So a form that is
    /// sent again after its answer was lost extends nobody twice.
    static func key(
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> IdempotencyKey {
        guard let version = form["version"].flatMap({ Int64($0) }) else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.", back: back)
        }
        return IdempotencyKey(unchecked: "console-\(version)")
    }

    /// The refusal of a form.
    static func refusal(_ words: String, _ back: ConsoleProblem.Back) -> ConsoleProblem {
        ConsoleProblem(400, "Nothing was done: the extension cannot be made", words, back: back)
    }
}

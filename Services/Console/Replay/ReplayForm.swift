import EventTypes
import OperatorCore

/// The form that selects the events of a replay.
///
/// Pure.
enum ReplayForm {
    /// The place to go on from.
    static let back = ConsoleProblem.Back(path: "/replays", words: "Back to the replays")
    /// The highest rate, in events per second.
    static let rateMax = 10_000

    /// The order that a form describes.
    ///
    /// - Parameters:
    ///   - form: The fields of the form.
    ///   - now: The machine's time, which no selected moment is after.
    /// - Returns: The order.
    /// - Throws: ``ConsoleProblem`` if the form selects nothing that can be.
    static func order(in form: FormFields, at now: StoreTime) throws(ConsoleProblem) -> ReplayOrder
    {
        let selection = ReplaySelection(
            topics: list(form["topic"]),
            types: list(form["type"]),
            accounts: list(form["account"]),
            transactions: list(form["transaction"]),
            events: list(form["event"]).map { $0.lowercased() },
            since: try moment(form["since"]),
            until: try moment(form["until"])
        )
        let consumer = form["consumer"].flatMap { $0.isEmpty ? nil : $0 }
        do throws(OperatorError) {
            try selection.check(at: now)
            try selection.check(consumer: consumer)
        } catch {
            // The command line's words name its options.
            let words = error.description.replacing("--", with: "")
            throw refusal(words)
        }
        guard let rate = Int(form["rate"] ?? "500"), (1...rateMax).contains(rate) else {
            throw refusal("The rate must be from 1 to \(rateMax.grouped) events per second.")
        }
        return ReplayOrder(selection: selection, consumer: consumer, rate: rate)
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    }

    private static func moment(_ text: String?) throws(ConsoleProblem) -> StoreTime? {
        guard let text, !text.isEmpty else { return nil }
        guard let time = StoreTime(text) else {
            throw refusal("“\(text)” is not a time in UTC such as 2026-11-21T14:00:00Z.")
        }
        return time
    }

    private static func refusal(_ words: String) -> ConsoleProblem {
        ConsoleProblem(400, "Nothing can be replayed like this", words, back: back)
    }
}

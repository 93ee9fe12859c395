import ClockAndIDs
import EventTypes
import StoreAPI

/// A change of the store's clock that an operator asks for.
enum ClockChange: Hashable, Sendable {
    /// Advance it by a span or to a time, once for each key.
    case advance(ClockAdvanceRequest, key: IdempotencyKey)
    /// Let it run at a rate; `nil` for the machines' own.
    case run(rate: String?)
    /// Freeze it.
    case freeze
    /// Resume an advance that failed.
    case resume

    /// Reads the form of a change.
    ///
    /// - Throws: ``ConsoleProblem`` that says what the field should be.
    init(_ form: FormFields) throws(ConsoleProblem) {
        switch form["act"] {
        case "advance":
            let key = try ActFormRules.key(in: form)
            let text = form["by"] ?? ""
            if ClockSpan(text) != nil {
                self = .advance(ClockAdvanceRequest(by: text), key: key)
            } else if let time = StoreTime(text) {
                self = .advance(ClockAdvanceRequest(to: time), key: key)
            } else {
                throw Self.problem(
                    "“\(text)” is neither a span, such as 31d or 1h30m, nor a time, such as "
                        + "2027-03-01T12:00:00Z."
                )
            }
        case "run":
            let text = form["rate"] ?? ""
            guard ClockRate(text) != nil else {
                throw Self.problem(
                    "“\(text)” is not a rate. Write it as 1h=1d, not slower than the machines’ clock."
                )
            }
            self = .run(rate: text)
        case "machines": self = .run(rate: nil)
        case "freeze": self = .freeze
        case "resume": self = .resume
        default: throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.")
        }
    }

    /// The name of the change in the log.
    var name: String {
        switch self {
        case .advance: "advance the clock"
        case .run: "run the clock"
        case .freeze: "freeze the clock"
        case .resume: "resume the clock"
        }
    }

    /// The page to go on from.
    static let back = ConsoleProblem.Back(path: "/clock", words: "Back to the clock")

    private static func problem(_ words: String) -> ConsoleProblem {
        ConsoleProblem(400, "Nothing was done: the field cannot be read", words, back: back)
    }
}

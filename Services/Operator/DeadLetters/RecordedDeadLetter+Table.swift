import EventTypes
import OperatorCore
import StoreTracing

extension RecordedDeadLetter {
    private var style: Cell.Style {
        switch state {
        case "dead": .red
        case "parked": .yellow
        default: .dim
        }
    }

    /// A list for people, one line each; the whole reason is in `show`.
    static func table(_ letters: [RecordedDeadLetter], at now: MachineTime) -> [[Cell]] {
        let head = ["SERVICE", "ID", "STATE", "KEY", "EVENT", "ABOUT", "SINCE", "REASON"]
        return [head.map { Cell($0, .dim) }]
            + letters.map { letter in
                [
                    Cell(letter.service), Cell("\(letter.id)"),
                    Cell(
                        letter.state + (letter.redriveRequestedAt == nil ? "" : ", redrive asked"),
                        letter.style
                    ),
                    Cell(letter.key), Cell(letter.type), Cell(letter.subject),
                    Cell("\(Age(of: letter.recordedAt, at: now))"),
                    Cell(letter.told),
                ]
            }
    }

    /// Names and values, one per line.
    func fields(at now: MachineTime) -> [[Cell]] {
        var fields: [(String, Cell)] = [
            ("service", Cell(service)), ("id", "\(id)"), ("state", Cell(state, style)),
            ("reason", Cell(reason)), ("key", Cell(key)), ("event", "\(type) \(eventID)"),
            ("about", Cell(subject)),
            ("from", "\(topic), partition \(partition), offset \(offset)"),
            ("happened", "\(time)"),
            ("recorded", "\(recordedAt), \(Age(of: recordedAt, at: now)) ago"),
        ]
        if let redriveRequestedAt { fields.append(("redrive asked", "\(redriveRequestedAt)")) }
        if let settledAt { fields.append(("settled", "\(settledAt)")) }
        if let act { fields.append(("decided", Cell("\(act)"))) }
        if let trace = traceparent?.traceID {
            fields.append(("trace", "\(trace)"))
        }
        return fields.map { [Cell($0.0, .dim), $0.1] }
    }

    /// Why it was discarded, or why it could not be applied.
    private var told: String {
        state == "discarded" ? act.map { "\($0)" } ?? "" : Self.short(reason)
    }

    private static func short(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let isLong = line.unicodeScalars.count > 80
        return isLong ? String(line.unicodeScalars.prefix(79)) + "…" : line
    }
}

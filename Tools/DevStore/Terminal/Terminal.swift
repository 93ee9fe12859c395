import Foundation

/// Output for the person at the terminal, aligned, and in colour if that is wanted.
struct Terminal: Sendable {
    /// The style of a text; the same as in `counterfoil`, from whose program no tool can import.
    enum Style: String, Sendable {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }

    private let hasColour: Bool

    init() {
        let environment = ProcessInfo.processInfo.environment
        hasColour =
            isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }

    /// Returns text in a style.
    func styled(_ text: String, _ style: Style) -> String {
        hasColour && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The record as one line of JSON.
    func line(_ text: String = "", _ style: Style = .plain) {
        FileHandle.standardOutput.write(Data((styled(text, style) + "\n").utf8))
    }

    /// Writes a heading with a rule below it.
    func heading(_ text: String) {
        line()
        line(text, .bold)
        line(String(repeating: "─", count: text.count), .dim)
    }

    /// A step that is done, with the time it took.
    func done(_ what: String, _ time: Duration) {
        let padding = String(repeating: " ", count: max(1, 62 - what.count))
        line(
            "  " + styled("✓", .green) + " \(what)" + padding
                + styled(Terminal.describe(time), .dim)
        )
    }

    /// Writes a name and a value, aligned with the lines around it.
    func field(_ name: String, _ value: String, width: Int = 14, _ style: Style = .plain) {
        let padding = String(repeating: " ", count: max(1, width - name.count))
        line("  " + styled(name, .dim) + padding + styled(value, style))
    }

    /// Writes rows in columns with the required width.
    ///
    /// The first row is the header.
    ///
    /// - Parameters:
    ///   - rows: The cells.
    ///   - rightAligned: The columns that contain numbers.
    func table(_ rows: [[String]], rightAligned: Set<Int> = []) {
        guard let head = rows.first else { return }
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for (index, row) in rows.enumerated() {
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return rightAligned.contains(column) ? padding + cell : cell + padding
            }
            line("  " + cells.joined(separator: "  "), index == 0 ? .dim : .plain)
        }
    }

    /// Returns a duration as text: `12 ms`, `3.4 s`.
    static func describe(_ time: Duration) -> String {
        let milliseconds = time.fractionalMilliseconds
        if milliseconds < 10 { return String(format: "%.1f ms", milliseconds) }
        if milliseconds < 1000 { return String(format: "%.0f ms", milliseconds) }
        return String(format: "%.1f s", milliseconds / 1000)
    }

    /// A count with separated thousands: `100,000`.
    static func describe(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = String(digits.dropLast(3))
        }
        let text = ([Substring(digits)] + groups).joined(separator: ",")
        return number < 0 ? "-" + text : text
    }
}

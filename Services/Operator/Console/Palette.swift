/// The choice whether output has colours.
struct Palette: Sendable {
    let isColoured: Bool

    static let plain = Palette(isColoured: false)

    /// The text with the codes of its style.
    func styled(_ cell: Cell) -> String {
        isColoured && cell.style != .plain
            ? "\u{1B}[\(cell.style.rawValue)m\(cell.text)\u{1B}[0m" : cell.text
    }

    /// Rows of cells in columns that line up.
    ///
    /// - Parameters:
    ///   - rows: The cells; the first row is the head.
    ///   - numbers: The columns that are aligned to the right.
    ///   - indent: How many spaces stand before each row.
    /// - Returns: Lines without spaces at their ends, the last one without a line feed.
    func table(_ rows: [[Cell]], numbers: Set<Int> = [], indent: Int = 0) -> String {
        let columnCount = rows.map(\.count).max() ?? 0
        let widths = (0..<columnCount).map { column in
            rows.map { column < $0.count ? $0[column].text.count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            var gap = indent
            for (column, cell) in row.enumerated() {
                let padding = widths[column] - cell.text.count
                if numbers.contains(column) { gap += padding }
                if !cell.text.isEmpty {
                    line += String(repeating: " ", count: gap) + styled(cell)
                    gap = 0
                }
                gap += 2 + (numbers.contains(column) ? 0 : padding)
                // An empty cell is as wide as its padding alone.
            }
            return line
        }
        .joined(separator: "\n")
    }

    /// A table of plain texts, with a dim head.
    func table(_ rows: [[String]], numbers: Set<Int> = [], indent: Int = 0) -> String {
        table(
            rows.enumerated().map { index, row in row.map { Cell($0, index == 0 ? .dim : .plain) }
            },
            numbers: numbers,
            indent: indent
        )
    }
}

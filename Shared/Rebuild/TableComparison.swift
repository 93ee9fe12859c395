/// Merges two streams of rows in the order of their keys, and finds the differences.
///
/// Pure. The rows come in pages, and at most one page of each side is held.
struct TableComparison {
    /// A row: its key, and the compared columns as one text.
    struct Row: Hashable, Sendable {
        let key: String
        let text: String
    }

    /// The side whose next page is needed.
    enum Need: Equatable {
        case live, rebuilt, nothing
    }

    private let columns: [String]
    private var live = Page()
    private var rebuilt = Page()
    /// The number of compared rows of the live table.
    private(set) var rowCount = 0
    /// The differences found since ``takeDifferences()`` was last called.
    private(set) var differences: [RowDifference] = []

    private struct Page {
        var rows: ArraySlice<Row> = []
        var hasEnded = false
    }

    init(columns: [String]) { self.columns = columns }

    /// Takes a page of one side; an empty page is the end of that side.
    mutating func take(live rows: [Row]) {
        live = Page(rows: rows[...], hasEnded: rows.isEmpty)
    }

    /// Takes a page of one side; an empty page is the end of that side.
    mutating func take(rebuilt rows: [Row]) {
        rebuilt = Page(rows: rows[...], hasEnded: rows.isEmpty)
    }

    /// Compares rows as far as the pages reach.
    ///
    /// - Returns: The side whose next page is needed, or `.nothing` if everything is compared.
    mutating func advance() -> Need {
        while true {
            if live.rows.isEmpty, !live.hasEnded { return .live }
            if rebuilt.rows.isEmpty, !rebuilt.hasEnded { return .rebuilt }
            switch (live.rows.first, rebuilt.rows.first) {
            case (nil, nil): return .nothing
            case (let row?, nil): onlyLive(row)
            case (nil, let row?): onlyRebuilt(row)
            case (let left?, let right?):
                if left.key == right.key {
                    live.rows.removeFirst()
                    rebuilt.rows.removeFirst()
                    rowCount += 1
                    if left.text != right.text { changed(left, right) }
                } else if left.key.utf8.lexicographicallyPrecedes(right.key.utf8) {
                    onlyLive(left)
                } else {
                    onlyRebuilt(right)
                }
            }
        }
    }

    /// Removes and returns the differences found so far.
    mutating func takeDifferences() -> [RowDifference] {
        defer { differences.removeAll() }
        return differences
    }

    private mutating func onlyLive(_ row: Row) {
        live.rows.removeFirst()
        rowCount += 1
        differences.append(RowDifference(key: row.key, kind: .notInTheLog, columns: []))
    }

    private mutating func onlyRebuilt(_ row: Row) {
        rebuilt.rows.removeFirst()
        differences.append(RowDifference(key: row.key, kind: .missing, columns: []))
    }

    private mutating func changed(_ left: Row, _ right: Row) {
        let values = zip(RowText.fields(of: left.text), RowText.fields(of: right.text))
        differences.append(
            RowDifference(
                key: left.key,
                kind: .changed,
                columns: zip(columns, values).filter { $1.0 != $1.1 }.map {
                    .init(name: $0, live: $1.0, log: $1.1)
                }
            )
        )
    }
}

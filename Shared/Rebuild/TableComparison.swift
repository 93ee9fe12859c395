/// Merges two streams of rows in the order of their keys and tells where they differ.
///
/// Pure: the rows come in pages, and it holds no more than one page of each side.
struct TableComparison {
    /// A row: its key, and all that is compared, as one text.
    struct Row: Hashable, Sendable {
        let key: String
        let text: String
    }

    /// Which side has to be read on.
    enum Need: Equatable {
        case live, rebuilt, nothing
    }

    private let columns: [String]
    private var live = Page()
    private var rebuilt = Page()
    /// How many rows of the live table have been compared.
    private(set) var rowCount = 0
    /// The differences found since they were taken last.
    private(set) var differences: [RowDifference] = []

    private struct Page {
        var rows: ArraySlice<Row> = []
        var hasEnded = false
    }

    init(columns: [String]) { self.columns = columns }

    /// Takes a page; an empty one is the end of its side.
    mutating func take(live rows: [Row]) {
        live = Page(rows: rows[...], hasEnded: rows.isEmpty)
    }

    /// Takes a page; an empty one is the end of its side.
    mutating func take(rebuilt rows: [Row]) {
        rebuilt = Page(rows: rows[...], hasEnded: rows.isEmpty)
    }

    /// Compares as far as the pages go.
    ///
    /// - Returns: Which side has to be read on, or that there is nothing left.
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

    /// Takes the differences found so far.
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

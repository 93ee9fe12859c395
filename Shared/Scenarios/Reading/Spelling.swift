/// The name that somebody probably meant.
enum Spelling {
    /// Returns an advice for a name that does not exist: the nearest one, or all of them.
    static func advice(for name: String, among known: [String]) -> String {
        if let nearest = nearest(to: name, among: known) { return "did you mean '\(nearest)'?" }
        if known.isEmpty { return "there are none" }
        return "there is \(known.sorted().joined(separator: ", "))"
    }

    /// Returns the nearest name; `nil` if none is similar.
    static func nearest(to name: String, among known: [String]) -> String? {
        let distances = known.map { (name: $0, distance: distance(name, $0)) }
        let best = distances.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        guard let best, best.distance <= max(1, name.count / 3) else { return nil }
        return best.name
    }

    /// The number of letters to insert, remove, replace or swap with their neighbours.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.lowercased()), Array(right.lowercased()))
        var rows = [Array(0...right.count)]
        for (i, letter) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var cost = min(
                    rows[i][j + 1] + 1,
                    row[j] + 1,
                    rows[i][j] + (letter == other ? 0 : 1)
                )
                if i > 0, j > 0, letter == right[j - 1], left[i - 1] == other {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

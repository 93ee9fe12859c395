import OperatorCore

extension LagReport {
    /// The consumers, one per line.
    var table: [[Cell]] {
        let head = ["CONSUMER", "TOPIC", "BEHIND", "OLDEST"].map { Cell($0, .dim) }
        return [head]
            + consumers.map { entry in
                let style: Cell.Style = entry.events == 0 ? .green : .yellow
                return [
                    Cell(entry.consumer),
                    Cell(entry.topic),
                    Cell(
                        BoundedCount(entry.events, isAtLeast: entry.isAtLeast).description,
                        style
                    ),
                    Cell(entry.oldest == nil ? "-" : "\(Age(milliseconds: entry.ageMilliseconds))"),
                ]
            }
    }
}

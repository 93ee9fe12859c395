import EventTypes
import OperatorCore

extension Story {
    /// The story for people.
    func lines(_ palette: Palette) -> [String] {
        var title = "Transaction \(transactionID)"
        if let orderID { title += ", order \(orderID)" }
        var lines = [
            palette.styled(Cell(title, .bold)),
            "\(accountID) (\(bundleID)): \(quantity) × \(productID), \(price), \(storefront); "
                + state.rawValue + (failureReason.map { ", \($0)" } ?? "")
                + (revokedAt == nil ? "" : ", refunded"),
        ]
        let traces = traceIDs
        let names = Dictionary(
            uniqueKeysWithValues: traces.enumerated().map {
                ($1, traces.count > 1 ? "\($0 + 1)" : "")
            }
        )
        for trace in traces {
            let name = names[trace, default: ""]
            lines.append(
                palette.styled(Cell("trace" + (name.isEmpty ? "" : " \(name)"), .dim)) + " \(trace)"
            )
        }
        lines.append("")
        lines.append(palette.table(rows(names), numbers: [1]))
        lines.append("")
        if !archives.isEmpty {
            lines.append("Further events may be in \(archives.joined(separator: ", ")).")
        }
        if let subscription { lines.append(subscription) }
        if let subscriptionID, subscriptionID != transactionID {
            lines.append("Its whole life: counterfoil why \(subscriptionID)")
        }
        if waitsFor.isEmpty {
            lines.append(palette.styled(Cell("Nothing is left to do.", .green)))
        }
        lines += waitsFor.map { palette.styled(Cell("→ ", .yellow)) + $0 }
        return lines
    }

    /// One line per step: its time, the time since the first step, the service, the text and the
    /// trace.
    private func rows(_ traces: [String: String]) -> [[Cell]] {
        guard let first = steps.first?.time else { return [] }
        let isNumbered = traces.count > 1
        let head =
            ["TIME (\(first.description.prefix(10)), UTC)", "AFTER", "WHERE", "WHAT"]
            + (isNumbered ? ["TRACE"] : [])
        return [head.map { Cell($0, .dim) }]
            + steps.map { step in
                let isSameDay = step.time.description.prefix(10) == first.description.prefix(10)
                let row = [
                    Cell(
                        String(
                            isSameDay
                                ? step.time.description.dropFirst(11).dropLast()
                                : step.time.description.dropLast()
                        )
                    ),
                    Cell("\(Age(of: first, at: step.time))", .dim),
                    Cell("\(step.service)", .cyan),
                    Cell(step.text, step.isProblem ? .red : .plain),
                ]
                return row
                    + (isNumbered ? [Cell(step.traceID.flatMap { traces[$0] } ?? "", .dim)] : [])
            }
    }
}

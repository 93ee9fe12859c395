import EventTypes
import OperatorCore
import StoreAPI

extension ReconcileReport {
    /// The report for people.
    func lines(_ palette: Palette) -> [String] {
        let currencies = Set(
            [answer.purchased, answer.processor, answer.postings].flatMap(\.amounts.keys)
        ).sorted()
        func row(_ name: String, _ total: Reconciliation.Total) -> [Cell] {
            [Cell(name), Cell("\(BoundedCount(total.count))")]
                + currencies.map { currency -> Cell in
                    guard let amount = total.amounts[currency] else { return "" }
                    let money = Money(minorUnits: amount, currency: Currency(unchecked: currency))
                    return Cell(String("\(money)".dropLast(4)))
                }
        }
        let head = [Cell("BOOK", .dim), Cell("COUNT", .dim)] + currencies.map { Cell($0, .dim) }
        let rows = [
            row("payments", answer.purchased), row("processor", answer.processor),
            row("ledger", answer.postings), row("receipts", answer.receipts),
            row("deliveries", answer.deliveries),
        ]
        var lines = [
            palette.table([head] + rows, numbers: Set(1...(1 + max(1, currencies.count)))), "",
            Self.summary(of: answer),
        ]
        if let note = answer.balanceNote { lines.append(note) }
        guard differenceCount > 0 || answer.compared > 0 else {
            return lines + ["There is nothing to compare: see --settled and --since."]
        }
        guard differenceCount > 0 else {
            return lines + [palette.styled(Cell("All books agree.", .green))]
        }
        for kind in Difference.Kind.allCases {
            guard let count = answer.differenceCounts[kind.rawValue] else { continue }
            lines += ["", palette.styled(Cell("\(BoundedCount(count)) \(kind.title)", .red))]
            lines.append("  " + kind.advice)
            let shown = answer.differences.filter { $0.kind == kind.rawValue }
            lines.append(
                palette.table(
                    shown.map {
                        [Cell($0.transactionID?.rawValue ?? $0.subject ?? "-"), Cell($0.detail)]
                    },
                    indent: 2
                )
            )
            if count > shown.count { lines.append("  … and \(count - shown.count) more: --limit") }
        }
        return lines
    }

    private static func summary(of answer: Reconciliation) -> String {
        var text = "\(BoundedCount(answer.compared)) "
        text += (answer.compared == 1 ? "transaction" : "transactions") + " compared"
        if let count = answer.subscriptions, count > 0 {
            let noun = count == 1 ? "subscription" : "subscriptions"
            text += ", \(BoundedCount(count)) \(noun) audited"
        }
        if let since = answer.since { text += ", those since \(since)" }
        if answer.free > 0 { text += "; \(BoundedCount(answer.free)) cost nothing" }
        if answer.onTheirWay > 0 {
            text += "; \(BoundedCount(answer.onTheirWay)) on their way, left out"
        }
        return text
    }
}

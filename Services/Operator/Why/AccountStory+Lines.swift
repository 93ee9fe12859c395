import EventTypes
import OperatorCore

extension AccountStory {
    /// The purchases for people.
    func lines(_ palette: Palette, at now: StoreTime) -> [String] {
        var lines = [palette.styled(Cell("Account \(accountID)", .bold)), ""]
        let head = ["TRANSACTION", "PRODUCT", "STATE", "CHANGED", "STAND"].map { Cell($0, .dim) }
        let rows = purchases.map { purchase in
            [
                Cell("\(purchase.transactionID)"), Cell(purchase.productID), Cell(purchase.state),
                Cell("\(Age(of: purchase.changedAt, at: now)) ago"), Self.cell(purchase.stand),
            ]
        }
        lines.append(palette.table([head] + rows))
        if isCut { lines.append("There are more; see --limit.") }
        lines.append("")
        for letter in deadLetters {
            lines.append(
                palette.styled(Cell("→ ", .yellow))
                    + """
                    \(letter.type) about \(letter.subject) is \(letter.state) in \(letter.service): \
                    counterfoil dead-letters show \(letter.service) \(letter.id)
                    """
            )
        }
        if let newest = purchases.first {
            lines.append("The whole story of one: counterfoil why \(newest.transactionID)")
        }
        return lines
    }

    private static func cell(_ stand: Stand) -> Cell {
        let style: Cell.Style =
            switch stand.kind {
            case .done: .green
            case .over: .dim
            case .waiting: .yellow
            case .late: .red
            }
        return Cell(stand.words, style)
    }
}

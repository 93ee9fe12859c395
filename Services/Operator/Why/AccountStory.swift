import EventTypes

/// The purchases of an account, each with the step that it waits for.
struct AccountStory: Encodable, Hashable, Sendable {
    struct Purchase: Encodable, Hashable, Sendable {
        let transactionID: TransactionID
        let bundleID: BundleID
        let productID: String
        let state: String
        let isDelivered: Bool
        let isRevoked: Bool
        let finishedAt: StoreTime?
        let changedAt: StoreTime

        /// The state of the purchase, in a few words.
        var stand: Cell {
            if finishedAt != nil {
                return Cell(isRevoked ? "finished, refunded" : "finished", .green)
            }
            if isRevoked { return Cell("refunded", .yellow) }
            switch state {
            case "purchased", "restored":
                return isDelivered
                    ? Cell("delivered, not finished", .yellow) : Cell("not delivered yet", .red)
            case "failed": return Cell("failed, not finished", .yellow)
            case "deferred": return Cell("waits for approval", .yellow)
            default: return Cell("under way", .yellow)
            }
        }
    }

    let accountID: AccountID
    /// The purchases, newest first.
    let purchases: [Purchase]
    /// Whether there are more purchases.
    let isCut: Bool
    /// The account's open dead letters, from all services.
    let deadLetters: [RecordedDeadLetter]

    func lines(_ palette: Palette, at now: StoreTime) -> [String] {
        var lines = [palette.styled(Cell("Account \(accountID)", .bold)), ""]
        let head = ["TRANSACTION", "PRODUCT", "STATE", "CHANGED", "STAND"].map { Cell($0, .dim) }
        let rows = purchases.map { purchase in
            [
                Cell("\(purchase.transactionID)"), Cell(purchase.productID), Cell(purchase.state),
                Cell("\(Age(of: purchase.changedAt, at: now)) ago"), purchase.stand,
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
}

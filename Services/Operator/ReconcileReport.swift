import EventTypes

/// What a comparison of all books found.
struct ReconcileReport: Encodable, Sendable {
    /// How many there are in one book, and what they sum to.
    struct Total: Encodable, Hashable, Sendable {
        var count = 0
        /// Minor units by currency.
        var amounts: [String: Int64] = [:]

        mutating func add(_ money: Money? = nil) {
            count += 1
            if let money { amounts[money.currency.rawValue, default: 0] += money.minorUnits }
        }
    }

    /// Purchases that were asked for since then; milliseconds since 1970.
    let since: Timestamp?
    /// What changed after that was left out.
    let until: Timestamp
    /// How many differences of a kind are kept.
    private let limit: Int
    /// How many transactions were compared.
    private(set) var compared = 0
    /// How many changed a moment ago.
    private(set) var onTheirWay = 0
    /// What `payments` says was purchased or restored.
    private(set) var purchased = Total()
    /// How many of them cost nothing, and so are in neither the processor's book nor the ledger.
    private(set) var free = 0
    private(set) var processor = Total()
    private(set) var postings = Total()
    private(set) var receipts = Total()
    private(set) var deliveries = Total()
    /// How many of each kind; the rest of a long list is not kept.
    private(set) var differenceCounts: [String: Int] = [:]
    private(set) var differences: [Difference] = []

    init(since: Timestamp?, until: Timestamp, limit: Int) {
        self.since = since
        self.until = until
        self.limit = limit
    }

    private enum CodingKeys: String, CodingKey {
        case since, until, compared, onTheirWay, purchased, free, processor, postings, receipts,
            deliveries
        case differenceCounts, differences
    }

    var differenceCount: Int { differenceCounts.values.reduce(0, +) }

    /// Takes note of one transaction.
    mutating func add(_ books: TransactionBooks, isDue: Bool) {
        guard isDue else {
            onTheirWay += 1
            return
        }
        // A transaction that is in no book any more was never in one: its id was read too early.
        guard books.changedAt != nil else { return }
        compared += 1
        let isPurchase = books.entry?.state == .purchased
        if let entry = books.entry, books.isPaid {
            purchased.add(isPurchase ? entry.price : nil)
            if !isPurchase || entry.price.isZero { free += 1 }
        }
        if isPurchase, let charge = books.charges.first { processor.add(charge.amount) }
        for posting in books.postings where posting.kind == "purchase" {
            postings.add(posting.amount)
        }
        if books.receipt != nil { receipts.add() }
        if books.isPaid && books.queued?.isDelivered == true { deliveries.add() }
        for difference in ReconcileRules.differences(in: books) { add(difference) }
    }

    mutating func add(_ difference: Difference) {
        differenceCounts[difference.kind.rawValue, default: 0] += 1
        if differenceCounts[difference.kind.rawValue, default: 0] <= limit {
            differences.append(difference)
        }
    }

    /// The report for people.
    func lines(_ palette: Palette) -> [String] {
        let currencies = Set([purchased, processor, postings].flatMap(\.amounts.keys)).sorted()
        func row(_ name: String, _ total: Total) -> [Cell] {
            [Cell(name), Cell("\(BoundedCount(total.count))")]
                + currencies.map { currency -> Cell in
                    guard let amount = total.amounts[currency] else { return "" }
                    let money = Money(minorUnits: amount, currency: Currency(unchecked: currency))
                    return Cell(String("\(money)".dropLast(4)))
                }
        }
        let head = [Cell("BOOK", .dim), Cell("COUNT", .dim)] + currencies.map { Cell($0, .dim) }
        let rows = [
            row("payments", purchased), row("processor", processor), row("ledger", postings),
            row("receipts", receipts), row("deliveries", deliveries),
        ]
        var lines = [
            palette.table([head] + rows, numbers: Set(1...(1 + max(1, currencies.count)))), "",
            "\(BoundedCount(compared)) \(compared == 1 ? "transaction" : "transactions") compared"
                + (since.map { ", asked for since \($0)" } ?? "")
                + (free > 0 ? "; \(BoundedCount(free)) cost nothing" : "")
                + (onTheirWay > 0 ? "; \(BoundedCount(onTheirWay)) on their way, left out" : ""),
        ]
        guard differenceCount > 0 || compared > 0 else {
            return lines + ["Nothing is there to compare: see --settled and --since."]
        }
        guard differenceCount > 0 else {
            return lines + [palette.styled(Cell("All books agree.", .green))]
        }
        for kind in Difference.Kind.allCases {
            guard let count = differenceCounts[kind.rawValue] else { continue }
            lines += ["", palette.styled(Cell("\(BoundedCount(count)) \(kind.title)", .red))]
            lines.append("  " + kind.advice)
            let shown = differences.filter { $0.kind == kind }
            lines.append(
                palette.table(
                    shown.map { [Cell($0.transactionID?.rawValue ?? "-"), Cell($0.detail)] },
                    indent: 2
                )
            )
            if count > shown.count { lines.append("  … and \(count - shown.count) more: --limit") }
        }
        return lines
    }
}

import EventTypes
import OperatorCore
import StoreAPI

/// The findings of a comparison of all books.
struct ReconcileReport: Sendable {
    /// The report in the form that `--json` prints.
    private(set) var answer: Reconciliation
    /// The largest number of differences of a kind, and of transactions, that are kept.
    private let limit: Int

    init(since: StoreTime?, until: StoreTime, limit: Int, listsTransactions: Bool = false) {
        answer = Reconciliation(since: since, until: until)
        answer.transactions = listsTransactions ? [] : nil
        self.limit = limit
    }

    /// The number of transactions examined so far.
    var seen: Int { answer.compared + answer.onTheirWay }

    var differenceCount: Int { answer.lost + answer.doubled + answer.wrong }

    /// Adds the findings about one transaction.
    mutating func add(_ books: TransactionBooks, isDue: Bool) {
        guard isDue else {
            answer.onTheirWay += 1
            return
        }
        // A transaction that is in no book now was never in one: its id was read too early.
        guard books.changedAt != nil else { return }
        answer.compared += 1
        if let listed = answer.transactions?.count, listed < limit {
            answer.transactions?.append(books)
        }
        let isPurchase = books.entry?.state == .purchased
        if let entry = books.entry, books.isPaid {
            answer.purchased.add(isPurchase ? entry.price : nil)
            if !isPurchase || entry.price.isZero { answer.free += 1 }
        }
        if isPurchase, let charge = books.charges.first { answer.processor.add(charge.amount) }
        for posting in books.postings where posting.kind == "purchase" {
            answer.postings.add(posting.amount)
        }
        if !books.receipts.isEmpty { answer.receipts.add() }
        if books.isPaid && books.queued?.isDelivered == true { answer.deliveries.add() }
        for difference in ReconcileRules.differences(in: books) { add(difference) }
    }

    mutating func add(_ difference: Difference) {
        switch difference.kind.effect {
        case .lost: answer.lost += 1
        case .doubled: answer.doubled += 1
        case .wrong: answer.wrong += 1
        }
        answer.differenceCounts[difference.kind.rawValue, default: 0] += 1
        if answer.differenceCounts[difference.kind.rawValue, default: 0] <= limit {
            answer.differences.append(difference.answer)
        }
    }

    mutating func add(accounts count: Int) { answer.accounts += count }

    /// The age at which what the processor has told is too old to compare with.
    static let toldAgeMax = Duration.seconds(86_400)

    /// Says that the balance at the processor is not compared, or not lately.
    ///
    /// It says nothing of a balance that was told within the last day.
    ///
    /// - Parameters:
    ///   - time: The time at which the processor told it last; `nil` if it never did.
    ///   - now: The present, by the clock of the same database.
    mutating func noteBalance(toldAt time: MachineTime?, at now: MachineTime) {
        if let time, now.duration(since: time) <= Self.toldAgeMax { return }
        let state =
            time.map { "is compared as it was at \($0)" } ?? "is not compared with the ledger yet"
        answer.balanceNote = """
            The balance at the processor \(state). payments reads it after the list of movements; if \
            this stays so, its log says why: the API key may lack the permission to read the balance.
            """
    }

    mutating func add(subscriptions count: Int) {
        answer.subscriptions = (answer.subscriptions ?? 0) + count
    }

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
        if let since = answer.since { text += ", asked for since \(since)" }
        if answer.free > 0 { text += "; \(BoundedCount(answer.free)) cost nothing" }
        if answer.onTheirWay > 0 {
            text += "; \(BoundedCount(answer.onTheirWay)) on their way, left out"
        }
        return text
    }
}

extension Reconciliation.Total {
    fileprivate mutating func add(_ money: Money? = nil) {
        count += 1
        if let money { amounts[money.currency.rawValue, default: 0] += money.minorUnits }
    }
}

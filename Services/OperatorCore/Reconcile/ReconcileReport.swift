import EventTypes
package import StoreAPI

/// The findings of a comparison of all books.
package struct ReconcileReport: Sendable {
    /// The report in the form that `--json` prints.
    package private(set) var answer: Reconciliation
    /// The largest number of differences of a kind, and of transactions, that are kept.
    private let limit: Int

    init(since: StoreTime?, until: StoreTime, limit: Int, listsTransactions: Bool = false) {
        answer = Reconciliation(since: since, until: until)
        answer.transactions = listsTransactions ? [] : nil
        self.limit = limit
    }

    /// The number of transactions examined so far.
    package var seen: Int { answer.compared + answer.onTheirWay }

    /// The number of differences.
    package var differenceCount: Int { answer.lost + answer.doubled + answer.wrong }

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
    ///   - account: The account at the processor.
    mutating func noteBalance(
        toldAt time: MachineTime?,
        at now: MachineTime,
        of account: String
    ) {
        if let time, now.duration(since: time) <= Self.toldAgeMax { return }
        let state =
            time.map { "is compared as it was at \($0)" } ?? "is not compared with the ledger yet"
        let words = ReconcileListStore.words(for: account)
        answer.balanceNote = """
            The balance at the processor \(state)\(words). payments reads it after the list of \
            movements; if this stays so, its log says why: the API key may lack the permission to read \
            the balance.
            """
    }

    mutating func add(subscriptions count: Int) {
        answer.subscriptions = (answer.subscriptions ?? 0) + count
    }
}

extension Reconciliation.Total {
    fileprivate mutating func add(_ money: Money? = nil) {
        count += 1
        if let money { amounts[money.currency.rawValue, default: 0] += money.minorUnits }
    }
}

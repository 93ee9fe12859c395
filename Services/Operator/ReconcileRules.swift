import EventTypes

/// What all books say of one transaction.
struct TransactionBooks: Hashable, Sendable {
    /// In `payments`.
    struct Entry: Hashable, Sendable {
        var state: TransactionState
        var price: Money
        var deliveryCount: Int
        var isFinished: Bool
        var isRevoked: Bool
        var changedAt: Timestamp
    }

    /// A successful one on the processor's list.
    struct Charge: Hashable, Sendable {
        var amount: Money
        var isReturned: Bool
        var changedAt: Timestamp
    }

    /// In the ledger.
    struct Posting: Hashable, Sendable {
        var kind: String
        /// What it took from the buyer.
        var amount: Money
        var isBalanced: Bool
        var postedAt: Timestamp
    }

    struct Receipt: Hashable, Sendable {
        var isRevoked: Bool
        var signedAt: Timestamp
    }

    /// In `fulfillment`.
    struct Queued: Hashable, Sendable {
        var state: TransactionState
        var isDelivered: Bool
        var isFinished: Bool
        var changedAt: Timestamp
        var deliveries = 0
        var delivered = 0
        var credits = 0
        var grants = 0
    }

    let id: TransactionID
    var entry: Entry?
    var charges: [Charge] = []
    var postings: [Posting] = []
    var receipt: Receipt?
    var isFinishedInReceipts = false
    var queued: Queued?

    /// When any of the books changed last.
    var changedAt: Timestamp? {
        var times = charges.map(\.changedAt) + postings.map(\.postedAt)
        times += [entry?.changedAt, receipt?.signedAt, queued?.changedAt].compactMap(\.self)
        return times.max()
    }

    var isPaid: Bool {
        entry.map { [.purchased, .restored].contains($0.state) } ?? false
    }
}

/// Decides what the books of one transaction disagree about.
///
/// Pure. What has changed a moment ago is on its way from one book to the next; ask of what has been
/// left in peace for a while.
enum ReconcileRules {
    static func differences(in books: TransactionBooks) -> [Difference] {
        guard let entry = books.entry else { return withoutEntry(books) }
        return money(books, entry) + receipts(books, entry) + deliveries(books, entry)
            + finishes(books, entry)
    }

    private static func withoutEntry(_ books: TransactionBooks) -> [Difference] {
        var found: [Difference] = []
        func add(_ kind: Difference.Kind, _ detail: String) {
            found.append(Difference(kind: kind, transactionID: books.id, detail: detail))
        }
        if books.queued != nil { add(.queuedWithoutPurchase, "payments has no such transaction") }
        if books.receipt != nil { add(.receiptWithoutPurchase, "payments has no such transaction") }
        if !books.postings.isEmpty {
            add(.postedWithoutPurchase, "payments has no such transaction")
        }
        return found
    }

    private static func money(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        var found: [Difference] = []
        func add(_ kind: Difference.Kind, _ detail: String) {
            found.append(Difference(kind: kind, transactionID: books.id, detail: detail))
        }
        for posting in books.postings where !posting.isBalanced {
            add(.unbalanced, "posting \(posting.kind)")
        }
        let kept = books.charges.filter { !$0.isReturned }
        let purchases = books.postings.filter { $0.kind == "purchase" }
        let refunds = books.postings.filter { $0.kind == "refund" }
        if books.charges.count > 1 { add(.chargedTwice, "\(books.charges.count) charges") }
        guard entry.state == .purchased, !entry.price.isZero else {
            if entry.state == .purchasing { add(.undecided, "asked for \(entry.price)") }
            for charge in kept { add(.chargedWithoutPurchase, "\(entry.state), \(charge.amount)") }
            for posting in purchases {
                add(.postedWithoutPurchase, "\(entry.state), \(posting.amount)")
            }
            return found
        }
        if books.charges.isEmpty { add(.notCharged, "\(entry.price)") }
        for charge in books.charges where charge.amount != entry.price {
            add(.amountDiffers, "charged \(charge.amount) for \(entry.price)")
        }
        if purchases.isEmpty { add(.notPosted, "\(entry.price)") }
        for posting in purchases where posting.amount != entry.price {
            add(.amountDiffers, "posted \(posting.amount) for \(entry.price)")
        }
        let isReturned = kept.isEmpty && !books.charges.isEmpty
        let says = [
            entry.isRevoked ? "payments" : nil, isReturned ? "the processor" : nil,
            refunds.isEmpty ? nil : "the ledger",
        ].compactMap(\.self)
        if !says.isEmpty && says.count < 3 && !books.charges.isEmpty {
            add(
                .refundDiffers,
                "only \(says.joined(separator: " and ")) \(says.count == 1 ? "has" : "have") it"
            )
        }
        return found
    }

    private static func receipts(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        func one(_ kind: Difference.Kind, _ detail: String) -> [Difference] {
            [Difference(kind: kind, transactionID: books.id, detail: detail)]
        }
        switch (books.isPaid, books.receipt) {
        case (true, nil): return one(.noReceipt, entry.state.rawValue)
        case (false, .some): return one(.receiptWithoutPurchase, entry.state.rawValue)
        case (true, .some(let receipt)) where entry.isRevoked && !receipt.isRevoked:
            return one(.receiptNotRevoked, "refunded, \(entry.price)")
        default: return []
        }
    }

    private static func deliveries(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        var found: [Difference] = []
        func add(_ kind: Difference.Kind, _ detail: String) {
            found.append(Difference(kind: kind, transactionID: books.id, detail: detail))
        }
        guard let queued = books.queued else {
            add(.notQueued, entry.state.rawValue)
            return found
        }
        if queued.state != entry.state {
            // A purchase enters the queue with its receipt: what lacks that is named once, and what
            // is not in the queue cannot be delivered.
            if books.isPaid && books.receipt == nil { return [] }
            add(.queueDiffers, "\(entry.state) in payments, \(queued.state) in the queue")
            return found
        }
        if books.isPaid && !entry.isRevoked {
            if !queued.isDelivered || queued.deliveries != entry.deliveryCount
                || queued.delivered != queued.deliveries
            {
                add(.undelivered, "\(queued.delivered) of \(entry.deliveryCount) deliveries")
            }
            if queued.grants != queued.credits {
                add(.creditsDiffer, "\(queued.grants) grants for \(queued.credits) credits")
            }
        }
        if !books.isPaid && queued.delivered > 0 {
            add(.deliveredWithoutPurchase, "\(entry.state), \(queued.delivered) deliveries")
        }
        return found
    }

    private static func finishes(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        guard let queued = books.queued else { return [] }
        // A receipt is there for what is paid; its finish matters to nothing else.
        let isKnown =
            entry.isFinished == queued.isFinished
            && (!books.isPaid || books.isFinishedInReceipts == queued.isFinished)
        guard !isKnown else { return [] }
        let knowing = [
            queued.isFinished ? "fulfillment" : nil, entry.isFinished ? "payments" : nil,
            books.isFinishedInReceipts ? "receipts" : nil,
        ].compactMap(\.self)
        return [
            Difference(
                kind: .finishDiffers,
                transactionID: books.id,
                detail: "known to \(knowing.joined(separator: " and ")) only"
            )
        ]
    }
}

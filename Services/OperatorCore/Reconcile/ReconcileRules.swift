import EventTypes
package import StoreAPI

/// Finds the differences between the books of one transaction.
///
/// Pure. A recent change may still be on its way from one book to the next, so compare only
/// transactions that have not changed for a while.
package enum ReconcileRules {
    /// The postings of money that went back to buyers, and of money that came back from there.
    private static let returns = ["refund", "chargeback"]
    private static let reversals = ["refund_reversal", "chargeback_reversal"]

    /// The differences, in the order of the books.
    package static func differences(in books: TransactionBooks) -> [Difference] {
        guard let entry = books.entry else { return withoutEntry(books) }
        return money(books, entry) + receipts(books, entry) + queue(books, entry)
            + finishes(books, entry)
    }

    private static func withoutEntry(_ books: TransactionBooks) -> [Difference] {
        var found: [Difference] = []
        func add(_ kind: Difference.Kind, _ detail: String) {
            found.append(Difference(kind: kind, transactionID: books.id, detail: detail))
        }
        if books.queued != nil { add(.queuedWithoutPurchase, "payments has no such transaction") }
        if !books.receipts.isEmpty {
            add(.receiptWithoutPurchase, "payments has no such transaction")
        }
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
        if books.charges.count > 1 { add(.chargedTwice, "\(books.charges.count) charges") }
        guard entry.state == .purchased, !entry.price.isZero else {
            if entry.state == .purchasing { add(.undecided, "asked for \(entry.price)") }
            for charge in kept { add(.chargedWithoutPurchase, "\(entry.state), \(charge.amount)") }
            for posting in purchases {
                add(.postedWithoutPurchase, "\(entry.state), \(posting.amount)")
            }
            return found
        }
        if purchases.count > 1 { add(.postedTwice, "\(purchases.count) purchases") }
        if books.charges.isEmpty { add(.notCharged, "\(entry.price)") }
        for charge in books.charges where charge.amount != entry.price {
            add(.amountDiffers, "charged \(charge.amount) for \(entry.price)")
        }
        if purchases.isEmpty { add(.notPosted, "\(entry.price)") }
        for posting in purchases where posting.amount != entry.price {
            add(.amountDiffers, "posted \(posting.amount) for \(entry.price)")
        }
        return found + refunds(books, entry)
    }

    /// Compares what payments, the processor and the ledger have given back.
    private static func refunds(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        func one(_ kind: Difference.Kind, _ detail: String) -> [Difference] {
            [Difference(kind: kind, transactionID: books.id, detail: detail)]
        }
        let refunds = entry.refunds.filter { !$0.amount.isZero }
        let reversals = refunds.filter { $0.reversedAt != nil }
        for (kinds, most) in [
            (Self.returns, refunds.count), (Self.reversals, reversals.count),
        ] {
            let count = books.postings.count { kinds.contains($0.kind) }
            if most > 0 && count > most {
                return one(.postedTwice, "\(count) postings \(kinds[0]) for \(most)")
            }
        }
        // Without its charge, the processor cannot know of the refund either.
        guard !books.charges.isEmpty else { return [] }
        func sum(_ amounts: [Int64]) -> Money {
            Money(minorUnits: amounts.reduce(0, &+), currency: entry.price.currency)
        }
        let reported = sum(refunds.filter { $0.reversedAt == nil }.map(\.amount.minorUnits))
        let returned = sum(books.charges.map(\.returned.minorUnits))
        let posted = sum(
            books.postings.filter { (Self.returns + Self.reversals).contains($0.kind) }
                .map { -$0.amount.minorUnits }
        )
        if reported != returned || reported != posted {
            return one(
                .refundDiffers,
                "\(reported) in payments, \(returned) at the processor, \(posted) in the ledger"
            )
        }
        let isRevoked = entry.refunds.contains { $0.revokes && $0.reversedAt == nil }
        guard entry.isRevoked != isRevoked else { return [] }
        return one(
            .refundDiffers,
            entry.isRevoked ? "taken away without a refund" : "refunded, and not taken away"
        )
    }

    private static func receipts(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        func one(_ kind: Difference.Kind, _ detail: String) -> [Difference] {
            [Difference(kind: kind, transactionID: books.id, detail: detail)]
        }
        guard let receipt = books.receipts.first else {
            return books.isPaid ? one(.noReceipt, entry.state.rawValue) : []
        }
        if !books.isPaid { return one(.receiptWithoutPurchase, entry.state.rawValue) }
        if books.receipts.count > 1 {
            return one(.receiptTwice, "\(books.receipts.count) receipts")
        }
        guard entry.isRevoked && !receipt.isRevoked else { return [] }
        return one(.receiptNotRevoked, "refunded, \(entry.price)")
    }

    private static func queue(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        func one(_ kind: Difference.Kind, _ detail: String) -> [Difference] {
            [Difference(kind: kind, transactionID: books.id, detail: detail)]
        }
        guard let queued = books.queued else {
            // A renewal that was not paid does not appear in a queue.
            let isExpected = entry.reason == .renewal && !books.isPaid
            return isExpected ? [] : one(.notQueued, entry.state.rawValue)
        }
        if queued.state != entry.state {
            // A purchase enters the queue with its receipt. A missing receipt is reported once, and
            // a purchase that is not in the queue cannot be delivered.
            if books.isPaid && books.receipts.isEmpty { return [] }
            return one(
                .queueDiffers,
                "\(entry.state) in payments, \(queued.state) in the queue"
            )
        }
        let delivered = queued.deliveries.count { $0.state == "delivered" }
        guard books.isPaid else {
            let found =
                delivered > 0
                ? one(.deliveredWithoutPurchase, "\(entry.state), \(delivered) deliveries") : []
            return found + credits(books.id, of: queued, expected: [:])
        }
        return deliveries(books.id, entry, queued)
            + credits(books.id, of: queued, expected: entry.isRevoked ? [:] : entry.credits)
            + entitlements(books.id, entry, queued)
    }

    private static func deliveries(
        _ id: TransactionID,
        _ entry: TransactionBooks.Entry,
        _ queued: TransactionBooks.Queued
    ) -> [Difference] {
        func one(_ kind: Difference.Kind, _ detail: String) -> [Difference] {
            [Difference(kind: kind, transactionID: id, detail: detail)]
        }
        let planned = queued.deliveries.filter { !$0.isOfRefund }
        if planned.count > entry.deliveryCount {
            return one(.deliveredTwice, "\(planned.count) deliveries of \(entry.deliveryCount)")
        }
        let open = queued.deliveries.count { $0.isOfRefund && $0.state == "pending" }
        if open > 0 {
            return one(.undelivered, "refunded, and \(open) webhooks are not confirmed")
        }
        // A refund makes void what was not delivered, and it stays void if the refund is reversed.
        let done = planned.count { $0.state != "pending" }
        guard !entry.isRevoked, !queued.isDelivered || done != entry.deliveryCount else {
            return []
        }
        return one(.undelivered, "\(done) of \(entry.deliveryCount) deliveries")
    }

    /// Compares the credits that the purchase gave with those that it should give, by unit.
    private static func credits(
        _ id: TransactionID,
        of queued: TransactionBooks.Queued,
        expected: [String: Int64]
    ) -> [Difference] {
        var balances: [String: Int64] = [:]
        for credit in queued.credits { balances[credit.unit, default: 0] &+= credit.amount }
        return Set(balances.keys).union(expected.keys).sorted().compactMap { unit in
            let (given, due) = (balances[unit, default: 0], expected[unit, default: 0])
            guard given != due else { return nil }
            return Difference(
                kind: given > due ? .creditedTooMuch : .notCredited,
                transactionID: id,
                detail: "\(given) \(unit) for \(due)"
            )
        }
    }

    private static func entitlements(
        _ id: TransactionID,
        _ entry: TransactionBooks.Entry,
        _ queued: TransactionBooks.Queued
    ) -> [Difference] {
        let isCopy = entry.reason.isCopy
        func one(_ kind: Difference.Kind) -> [Difference] {
            [
                Difference(
                    kind: kind,
                    transactionID: id,
                    detail: "\(entry.productID) of \(entry.originalID)"
                )
            ]
        }
        if entry.isRevoked {
            return !isCopy && queued.isEntitled == true ? one(.entitledDespiteRefund) : []
        }
        guard entry.grantsEntitlement else { return [] }
        // A copy may outlive its original's refund.
        let isThere = isCopy ? queued.isEntitled != nil : queued.isEntitled == true
        return isThere ? [] : one(.notEntitled)
    }

    private static func finishes(
        _ books: TransactionBooks,
        _ entry: TransactionBooks.Entry
    ) -> [Difference] {
        guard let queued = books.queued else { return [] }
        // Only paid transactions have receipts, so only their finish matters to `receipts`.
        let isKnown =
            (entry.isFinished ?? queued.isFinished) == queued.isFinished
            && (!books.isPaid || books.isFinishedInReceipts == queued.isFinished)
        guard !isKnown else { return [] }
        let knowing: [ServiceName?] = [
            queued.isFinished ? .fulfillment : nil, entry.isFinished == true ? .payments : nil,
            books.isFinishedInReceipts ? .receipts : nil,
        ]
        let names = knowing.compactMap { $0?.rawValue }
        return [
            Difference(
                kind: .finishDiffers,
                transactionID: books.id,
                detail: "known to \(names.joined(separator: " and ")) only"
            )
        ]
    }
}

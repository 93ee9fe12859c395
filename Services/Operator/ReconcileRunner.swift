import EventTypes
import Postgres

/// Compares the books of the whole store, a page of transactions at a time.
///
/// Memory does not grow with the store: a page is read, compared and forgotten, and of differences no
/// more than are shown are kept. No database transaction stays open from page to page. What differs
/// is read a second time, so that a purchase that moved between two reads is no difference; and what
/// changed a moment ago is on its way, and is not compared.
struct ReconcileRunner: Sendable {
    let databases: DatabaseOptions
    /// Compare what has not changed since then.
    let cutoff: Timestamp
    /// Only purchases that were asked for since then; `nil` for all.
    let since: Timestamp?
    /// How many differences of a kind are kept.
    let limit: Int

    private static let pageLength = 2_000
    /// Ids are drawn before the time is read, by several requests at once.
    private static let slack: Int64 = 1_000

    func run(tell: @Sendable (ReconcileReport) -> Void) async throws -> ReconcileReport {
        let addresses = (
            databases.address(of: .payments), databases.address(of: .receipts),
            databases.address(of: .fulfillment)
        )
        return try await DatabaseReader.withSession(
            addresses.0,
            statementTimeout: .seconds(600)
        ) { payments in
            try await DatabaseReader.withSession(addresses.1) { receipts in
                try await DatabaseReader.withSession(addresses.2) { fulfillment in
                    try await compare(Books(payments, receipts, fulfillment), tell: tell)
                }
            }
        }
    }

    private func compare(
        _ books: Books,
        tell: @Sendable (ReconcileReport) -> Void
    ) async throws -> ReconcileReport {
        var report = ReconcileReport(since: since, until: cutoff, limit: limit)
        var last: Int64 = 0
        if let since {
            let first = try await books.payments.run { connection in
                try ReconcileStore.firstID(since: since, on: connection)
            }
            // Nothing at all is there: nothing is passed over either.
            last = first.map { $0 - 1 - Self.slack } ?? 0
        }
        var isEnd = false
        while !isEnd {
            let after = last
            let known = try await books.payments.run { connection in
                try ReconcileStore.ids(after: after, limit: Self.pageLength, on: connection)
            }
            isEnd = known.count < Self.pageLength
            let end = isEnd ? Int64.max : known.last ?? Int64.max
            let ids = try await books.ids(in: (after + 1)...end, limit: Self.pageLength)
            let page = try await books.read(Set(known).union(ids))
            let suspects = page.filter { isDue($0) && !ReconcileRules.differences(in: $0).isEmpty }
            let again = suspects.isEmpty ? [] : try await books.read(Set(suspects.map(\.id.number)))
            let seen = Dictionary(again.map { ($0.id, $0) }) { $1 }
            for transaction in page.sorted(by: { $0.id.number < $1.id.number }) {
                let newest = seen[transaction.id] ?? transaction
                report.add(newest, isDue: isDue(newest))
            }
            last = end
            tell(report)
        }
        let (begin, end, limit) = (since, cutoff, limit)
        try await books.payments.execute("BEGIN READ ONLY")
        let unknown = try await books.payments.run { connection in
            try ReconcileStore.unknownCharges(
                from: begin ?? Timestamp(millisecondsSinceEpoch: 0),
                until: end,
                limit: limit + 1,
                on: connection
            )
        }
        try await books.payments.execute("ROLLBACK")
        for charge in unknown {
            report.add(
                Difference(
                    kind: .chargeUnknown,
                    transactionID: nil,
                    detail: "\(charge.key), \(charge.amount), \(charge.time)"
                )
            )
        }
        return report
    }

    private func isDue(_ books: TransactionBooks) -> Bool {
        books.changedAt.map { $0 < cutoff } ?? true
    }

    /// Sessions with the three databases that hold books of purchases.
    private struct Books {
        let payments: PostgresConnection
        let receipts: PostgresConnection
        let fulfillment: PostgresConnection

        init(
            _ payments: PostgresConnection,
            _ receipts: PostgresConnection,
            _ fulfillment: PostgresConnection
        ) {
            self.payments = payments
            self.receipts = receipts
            self.fulfillment = fulfillment
        }

        /// What the other books have in a range, whether `payments` knows it or not.
        ///
        /// A range of a thousand more ids than `payments` has is out of order by itself; the rest
        /// of it shows when these are mended.
        func ids(in range: ClosedRange<Int64>, limit: Int) async throws -> Set<Int64> {
            let limit = limit + 1_000
            let postings = try await payments.run {
                try ReconcileStore.ids(in: range, of: .postings, limit: limit, on: $0)
            }
            let receipts = try await receipts.run {
                try ReconcileStore.ids(in: range, of: .receipts, limit: limit, on: $0)
            }
            let queue = try await fulfillment.run {
                try ReconcileStore.ids(in: range, of: .queue, limit: limit, on: $0)
            }
            return Set(postings).union(receipts).union(queue)
        }

        /// Reads what all books say, `payments` first: whatever it tells has had its time.
        func read(_ ids: Set<Int64>) async throws -> [TransactionBooks] {
            guard !ids.isEmpty else { return [] }
            var books: [Int64: TransactionBooks] = [:]
            for id in ids { books[id] = TransactionBooks(id: TransactionID(number: id)) }
            books = try await payments.run { [books] connection in
                var books = books
                try ReconcileStore.readPayments(into: &books, on: connection)
                return books
            }
            books = try await receipts.run { [books] connection in
                var books = books
                try ReconcileStore.readReceipts(into: &books, on: connection)
                return books
            }
            books = try await fulfillment.run { [books] connection in
                var books = books
                try ReconcileStore.readQueue(into: &books, on: connection)
                return books
            }
            return Array(books.values)
        }
    }
}

import EventTypes
import Postgres

/// What `payments` and the sandbox processor have in their books.
struct PaymentsBooks: Sendable {
    struct Entry: Sendable {
        var state: String
        /// The money of the transaction, in minor units.
        var amount: Int64
        var currency: String
        var deliveryCount: Int64
        var isFinished: Bool
        var isRevoked: Bool
    }

    struct Charge: Sendable {
        var transaction: Int64?
        var amount: Int64
        var currency: String
        var isReturned: Bool
    }

    let transactions: [Int64: Entry]
    /// The successful charges at the processor, returned or not.
    let charges: [Charge]
    /// How many postings of each kind a transaction has.
    let postings: [Int64: [String: Int]]
    /// What each purchase posting took from the buyer.
    let posted: [Int64: Int64]
    /// The postings that do not sum to zero in some currency.
    let unbalanced: [String]
    /// The sum of all entries per currency.
    let sums: [String: Int64]
    let purchasedEvents: [String: Int64]

    init(on connection: isolated PostgresConnection) throws {
        transactions = try Self.readTransactions(on: connection)
        charges = try Self.readCharges(on: connection)
        (postings, posted) = try Self.readPostings(on: connection)
        unbalanced = try connection.query(
            """
            SELECT posting_id::text FROM ledger_entries GROUP BY posting_id, currency
            HAVING sum(amount) <> 0
            """
        ).map { try $0.decode(String.self) }
        var sums: [String: Int64] = [:]
        for row in try connection.query(
            "SELECT currency, sum(amount)::bigint FROM ledger_entries GROUP BY currency"
        ) {
            let (currency, sum) = try row.decode(String.self, Int64.self)
            sums[currency] = sum
        }
        self.sums = sums
        purchasedEvents = try eventCounts(of: .transactionPurchased, on: connection)
    }

    /// The transactions that a receipt and deliveries are owed for.
    var paid: Set<Int64> {
        Set(transactions.filter { ["purchased", "restored"].contains($0.value.state) }.keys)
    }

    func check(_ report: inout AuditReport) {
        for state in ["purchased", "restored", "failed", "deferred", "purchasing"] {
            report.count(state, transactions.values.filter { $0.state == state }.count)
        }
        report.count("charges", charges.count)
        report.count("charges returned", charges.filter(\.isReturned).count)
        report.count("postings", postings.values.reduce(0) { $0 + $1.values.reduce(0, +) })
        let chargesByTransaction = Dictionary(grouping: charges, by: \.transaction)
        for charge in charges where charge.transaction == nil {
            report.add(.doubled, "processor", "a charge of \(charge.amount) that nobody intended")
        }
        for (id, transaction) in transactions {
            check(id, transaction, chargesByTransaction[id] ?? [], &report)
        }
        for posting in unbalanced {
            report.add(.wrong, "posting \(posting)", "its entries do not sum to zero")
        }
        for (currency, sum) in sums where sum != 0 {
            report.add(.wrong, currency, "all entries sum to \(sum)")
        }
    }

    func checkFinishes(_ report: inout AuditReport, _ finished: Set<Int64>) {
        for (id, transaction) in transactions {
            // `payments` keeps the finish of what it may have to restore.
            if finished.contains(id) && !transaction.isFinished {
                report.add(.lost, id, "finished in fulfillment, and not in payments")
            }
            if !finished.contains(id) && transaction.isFinished {
                report.add(.wrong, id, "finished in payments, and not in fulfillment")
            }
        }
    }

    private func check(
        _ id: Int64,
        _ transaction: Entry,
        _ charges: [Charge],
        _ report: inout AuditReport
    ) {
        let purchases = postings[id]?["purchase"] ?? 0
        let kept = charges.filter { !$0.isReturned }
        if charges.count > 1 { report.add(.doubled, id, "charged \(charges.count) times") }
        switch transaction.state {
        case "purchasing":
            report.add(.lost, id, "has no end state: it is purchasing")
        case "purchased" where transaction.amount > 0:
            if charges.isEmpty { report.add(.lost, id, "purchased, and not charged") }
            if kept.isEmpty && !charges.isEmpty && !transaction.isRevoked {
                report.add(.wrong, id, "its charge was returned, and it was not refunded")
            }
            if purchases == 0 { report.add(.lost, id, "charged, and not posted") }
            if purchases > 1 { report.add(.doubled, id, "posted \(purchases) times") }
            for charge in charges
            where charge.amount != transaction.amount || charge.currency != transaction.currency {
                report.add(.wrong, id, "charged \(charge.amount) for \(transaction.amount)")
            }
            if let posted = posted[id], posted != transaction.amount {
                report.add(.wrong, id, "posted \(posted) for \(transaction.amount)")
            }
            if transaction.isRevoked && postings[id]?["refund"] != 1 {
                report.add(.lost, id, "refunded, and the refund is not posted once")
            }
            let events = purchasedEvents["\(id)"] ?? 0
            if events == 0 { report.add(.lost, id, "purchased, and never told") }
            if events > 1 { report.add(.doubled, id, "told as purchased \(events) times") }
        default:
            if !kept.isEmpty { report.add(.doubled, id, "\(transaction.state), and charged") }
            if purchases > 0 { report.add(.wrong, id, "\(transaction.state), and posted") }
        }
    }

    private static func readTransactions(
        on connection: isolated PostgresConnection
    ) throws -> [Int64: Entry] {
        var transactions: [Int64: Entry] = [:]
        for row in try connection.query(
            """
            SELECT id, state, price, currency,
                json_array_length(delivery_plan)::bigint, finished_at IS NOT NULL,
                revoked_at IS NOT NULL
            FROM transactions
            """
        ) {
            let (id, state, amount, currency, deliveries, isFinished, isRevoked) = try row.decode(
                Int64.self,
                String.self,
                Int64.self,
                String.self,
                Int64.self,
                Bool.self,
                Bool.self
            )
            transactions[id] = Entry(
                state: state,
                amount: amount,
                currency: currency,
                deliveryCount: deliveries,
                isFinished: isFinished,
                isRevoked: isRevoked
            )
        }
        return transactions
    }

    private static func readCharges(
        on connection: isolated PostgresConnection
    ) throws -> [Charge] {
        try connection.query(
            """
            SELECT attempt.transaction_id, charge.amount, charge.currency,
                refund.charge_key IS NOT NULL
            FROM sandbox_processor.charges charge
            LEFT JOIN processor_attempts attempt
                ON attempt.attempt_id = charge.idempotency_key AND attempt.kind = 'charge'
            LEFT JOIN sandbox_processor.refunds refund
                ON refund.charge_key = charge.idempotency_key
            WHERE charge.decline_reason IS NULL
            """
        ).map { row in
            let (transaction, amount, currency, isReturned) = try row.decode(
                Int64?.self,
                Int64.self,
                String.self,
                Bool.self
            )
            return Charge(
                transaction: transaction,
                amount: amount,
                currency: currency,
                isReturned: isReturned
            )
        }
    }

    private static func readPostings(
        on connection: isolated PostgresConnection
    ) throws -> ([Int64: [String: Int]], [Int64: Int64]) {
        var postings: [Int64: [String: Int]] = [:]
        var posted: [Int64: Int64] = [:]
        for row in try connection.query(
            """
            SELECT posting.transaction_id, posting.kind,
                coalesce(-sum(entry.amount) FILTER (WHERE entry.account LIKE 'buyer:%'), 0)::bigint
            FROM ledger_postings posting
            LEFT JOIN ledger_entries entry ON entry.posting_id = posting.id
            GROUP BY posting.id, posting.transaction_id, posting.kind
            """
        ) {
            let (id, kind, amount) = try row.decode(Int64.self, String.self, Int64.self)
            postings[id, default: [:]][kind, default: 0] += 1
            if kind == "purchase" { posted[id] = amount }
        }
        return (postings, posted)
    }
}

import EventTypes
import Messaging
import Postgres

/// The SQL of `reconcile`: each service's books of some transactions, by their ids.
enum ReconcileStore {
    /// The first transaction that was asked for at or after a moment; `nil` if there is none.
    ///
    /// Ids rise with time, so a few probes of the primary key find it, and no index on the time is
    /// needed. Those that were drawn at the same time are in no order: begin a little before.
    static func firstID(
        since time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> Int64? {
        guard
            let bounds = try connection.query("SELECT min(id), max(id) FROM transactions").first
        else { return nil }
        let (least, greatest) = try bounds.decode(Int64?.self, Int64?.self)
        guard var low = least, var high = greatest else { return nil }
        while low < high {
            let middle = low + (high - low) / 2
            let row = try connection.query(
                "SELECT id, requested_at FROM transactions WHERE id >= \(middle) ORDER BY id LIMIT 1"
            ).first
            guard let row else { break }
            let (id, requestedAt) = try row.decode(Int64.self, Timestamp.self)
            if requestedAt < time { low = id + 1 } else { high = middle }
        }
        return low
    }

    /// The next ids after one, in order.
    static func ids(
        after last: Int64,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Int64] {
        try connection.query(
            "SELECT id FROM transactions WHERE id > \(last) ORDER BY id LIMIT \(Int64(limit))"
        ).map { try $0.decode(Int64.self) }
    }

    /// The ids of a range that a table of a service has.
    static func ids(
        in range: ClosedRange<Int64>,
        of table: Table,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Int64] {
        try connection.query(
            """
            SELECT DISTINCT transaction_id FROM \(unsafe: table.rawValue)
            WHERE transaction_id BETWEEN \(range.lowerBound) AND \(range.upperBound)
            ORDER BY transaction_id LIMIT \(Int64(limit))
            """
        ).map { try $0.decode(Int64.self) }
    }

    /// The tables that name transactions.
    enum Table: String {
        case postings = "ledger_postings"
        case receipts = "signed_transactions"
        case queue = "queue_transactions"
    }

    /// What `payments`, the ledger and the processor have.
    static func readPayments(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        for row in try connection.query(
            """
            SELECT id, state, price, currency, json_array_length(delivery_plan)::bigint,
                finished_at IS NOT NULL, revoked_at IS NOT NULL,
                greatest(requested_at, purchased_at, revoked_at, finished_at)
            FROM transactions WHERE id = ANY(\(ids))
            """
        ) {
            let (id, state, price, currency, deliveries, isFinished, isRevoked, changed) =
                try row.decode(
                    Int64.self,
                    String.self,
                    Int64.self,
                    Currency.self,
                    Int64.self,
                    Bool.self,
                    Bool.self,
                    Timestamp.self
                )
            books[id]?.entry = TransactionBooks.Entry(
                state: TransactionState(rawValue: state),
                price: Money(minorUnits: price, currency: currency),
                deliveryCount: Int(deliveries),
                isFinished: isFinished,
                isRevoked: isRevoked,
                changedAt: changed
            )
        }
        try readCharges(of: ids, into: &books, on: connection)
        try readPostings(of: ids, into: &books, on: connection)
    }

    private static func readCharges(
        of ids: [Int64],
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        for row in try connection.query(
            """
            SELECT attempt.transaction_id, charge.amount, charge.currency,
                refund.charge_key IS NOT NULL, greatest(charge.created_at, refund.created_at)
            FROM processor_attempts attempt
            JOIN sandbox_processor.charges charge ON charge.idempotency_key = attempt.attempt_id
            LEFT JOIN sandbox_processor.refunds refund ON refund.charge_key = attempt.attempt_id
            WHERE attempt.transaction_id = ANY(\(ids)) AND attempt.kind = 'charge'
                AND charge.decline_reason IS NULL
            """
        ) {
            let (id, amount, currency, isReturned, changed) = try row.decode(
                Int64.self,
                Int64.self,
                Currency.self,
                Bool.self,
                Timestamp.self
            )
            books[id]?.charges.append(
                TransactionBooks.Charge(
                    amount: Money(minorUnits: amount, currency: currency),
                    isReturned: isReturned,
                    changedAt: changed
                )
            )
        }
    }

    /// A posting without entries has no currency: `XXX` is ISO 4217's code for none, and no price's.
    private static func readPostings(
        of ids: [Int64],
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        for row in try connection.query(
            """
            SELECT posting.transaction_id, posting.kind, posting.posted_at,
                coalesce(sum(entry.buyer), 0)::bigint, coalesce(max(entry.currency), 'XXX'),
                coalesce(bool_and(entry.sum = 0), false)
            FROM ledger_postings posting
            LEFT JOIN LATERAL (
                SELECT currency, sum(amount) AS sum,
                    coalesce(-sum(amount) FILTER (WHERE account LIKE 'buyer:%'), 0) AS buyer
                FROM ledger_entries WHERE posting_id = posting.id GROUP BY currency
            ) entry ON true
            WHERE posting.transaction_id = ANY(\(ids))
            GROUP BY posting.id
            """
        ) {
            let (id, kind, posted, amount, currency, isBalanced) = try row.decode(
                Int64.self,
                String.self,
                Timestamp.self,
                Int64.self,
                Currency.self,
                Bool.self
            )
            books[id]?.postings.append(
                TransactionBooks.Posting(
                    kind: kind,
                    amount: Money(minorUnits: amount, currency: currency),
                    isBalanced: isBalanced,
                    postedAt: posted
                )
            )
        }
    }

    /// What `receipts` has.
    static func readReceipts(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        for row in try connection.query(
            """
            SELECT transaction_id, revoked_at IS NOT NULL, signed_at FROM signed_transactions
            WHERE transaction_id = ANY(\(ids))
            """
        ) {
            let (id, isRevoked, signed) = try row.decode(Int64.self, Bool.self, Timestamp.self)
            books[id]?.receipt = TransactionBooks.Receipt(isRevoked: isRevoked, signedAt: signed)
        }
        for row in try connection.query(
            "SELECT transaction_id FROM transaction_finishes WHERE transaction_id = ANY(\(ids))"
        ) {
            books[try row.decode(Int64.self)]?.isFinishedInReceipts = true
        }
    }

    /// What `fulfillment` has.
    static func readQueue(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        for row in try connection.query(
            """
            SELECT transaction_id, state, is_delivered, finished_at IS NOT NULL, changed_at
            FROM queue_transactions WHERE transaction_id = ANY(\(ids))
            """
        ) {
            let (id, state, isDelivered, isFinished, changed) = try row.decode(
                Int64.self,
                String.self,
                Bool.self,
                Bool.self,
                Timestamp.self
            )
            books[id]?.queued = TransactionBooks.Queued(
                state: TransactionState(rawValue: state),
                isDelivered: isDelivered,
                isFinished: isFinished,
                changedAt: changed
            )
        }
        for row in try connection.query(
            """
            SELECT transaction_id, count(*), count(*) FILTER (WHERE state = 'delivered'),
                count(*) FILTER (WHERE kind = 'credit' AND state = 'delivered')
            FROM deliveries
            WHERE transaction_id = ANY(\(ids)) AND target NOT LIKE '%:refund'
            GROUP BY transaction_id
            """
        ) {
            let (id, deliveries, delivered, credits) = try row.decode(
                Int64.self,
                Int64.self,
                Int64.self,
                Int64.self
            )
            books[id]?.queued?.deliveries = Int(deliveries)
            books[id]?.queued?.delivered = Int(delivered)
            books[id]?.queued?.credits = Int(credits)
        }
        for row in try connection.query(
            """
            SELECT transaction_id, count(*) FROM credit_entries
            WHERE transaction_id = ANY(\(ids)) AND kind = 'grant' GROUP BY transaction_id
            """
        ) {
            let (id, grants) = try row.decode(Int64.self, Int64.self)
            books[id]?.queued?.grants = Int(grants)
        }
    }

    /// Charges on the processor's list that no payment of the store intended.
    static func unknownCharges(
        from begin: Timestamp,
        until end: Timestamp,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(key: EventID, amount: Money, time: Timestamp)] {
        // All attempts against all charges: the one question that is not asked by key.
        try connection.execute("SET LOCAL enable_seqscan = on")
        try connection.execute("SET LOCAL enable_hashjoin = on")
        return try connection.query(
            """
            SELECT charge.idempotency_key, charge.amount, charge.currency, charge.created_at
            FROM sandbox_processor.charges charge
            LEFT JOIN processor_attempts attempt ON attempt.attempt_id = charge.idempotency_key
            WHERE attempt.attempt_id IS NULL AND charge.decline_reason IS NULL
                AND charge.created_at >= \(begin) AND charge.created_at < \(end)
            LIMIT \(Int64(limit))
            """
        ).map { row in
            let (key, amount, currency, time) = try row.decode(
                EventID.self,
                Int64.self,
                Currency.self,
                Timestamp.self
            )
            return (key, Money(minorUnits: amount, currency: currency), time)
        }
    }
}

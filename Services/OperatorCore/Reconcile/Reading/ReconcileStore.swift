import EventTypes
import Foundation
import Messaging
package import Postgres
package import StoreAPI

/// The SQL of `reconcile`: each service's books of some transactions, by their ids.
package enum ReconcileStore {
    /// The id from which on transactions were requested at or after a moment: one behind the last if
    /// all are older; `nil` if there is no transaction at all.
    ///
    /// Ids rise with time, so a few probes of the primary key find it, and no index on the time is
    /// needed. Ids drawn at the same time are in no order, so begin a little earlier.
    static func firstID(
        since time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Int64? {
        guard
            let bounds = try connection.query("SELECT min(id), max(id) FROM transactions").first
        else { return nil }
        let (least, greatest) = try bounds.decode(Int64?.self, Int64?.self)
        guard var low = least, let greatest else { return nil }
        var high = greatest + 1
        while low < high {
            let middle = low + (high - low) / 2
            let row = try connection.query(
                "SELECT id, requested_at FROM transactions WHERE id >= \(middle) ORDER BY id LIMIT 1"
            ).first
            guard let row else { break }
            let (id, requestedAt) = try row.decode(Int64.self, StoreTime.self)
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

    /// The ids in a range that a service's table contains.
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

    /// The tables that refer to transactions.
    enum Table: String {
        case postings = "ledger_postings"
        case receipts = "signed_transactions"
        case queue = "queue_transactions"
    }

    /// Reads transactions from `payments`, the ledger and the processor.
    package static func readPayments(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        let credits = try credits(of: ids, on: connection)
        for row in try connection.query(
            """
            SELECT id, account_id, bundle_id, product_id, quantity, original_id, reason, state,
                price, currency, plan.webhooks, plan.has_entitlement,
                CASE WHEN product_type IN ('nonConsumable', 'autoRenewableSubscription')
                    THEN finished_at IS NOT NULL END,
                revoked_at IS NOT NULL, refunds, requested_at,
                greatest(requested_at, purchased_at, revoked_at, finished_at)
            FROM transactions CROSS JOIN LATERAL (
                SELECT count(*) FILTER (
                        WHERE target->>'kind' NOT IN ('entitlement', 'credit', 'app')
                    ) AS webhooks,
                    count(*) FILTER (WHERE target->>'kind' = 'entitlement') > 0 AS has_entitlement
                FROM json_array_elements(delivery_plan) AS target
            ) AS plan
            WHERE id = ANY(\(ids))
            """
        ) {
            let (
                id, account, bundle, product, quantity, original, reason, state, price, currency,
                deliveries, grantsEntitlement, isFinished, isRevoked, refundList, requested, changed
            ) = try row.decode(
                Int64.self,
                AccountID.self,
                BundleID.self,
                ProductID.self,
                Int32.self,
                Int64.self,
                String.self,
                String.self,
                Int64.self,
                Currency.self,
                Int64.self,
                Bool.self,
                Bool?.self,
                Bool.self,
                PostgresJSON?.self,
                StoreTime.self,
                StoreTime.self
            )
            let refunds = try self.refunds(in: refundList)
            let moved = refunds.map { $0.reversedAt ?? $0.refundedAt }
            books[id]?.entry = TransactionBooks.Entry(
                accountID: account,
                bundleID: bundle,
                productID: product,
                quantity: Int(quantity),
                originalID: TransactionID(number: original),
                reason: TransactionReason(rawValue: reason),
                state: TransactionState(rawValue: state),
                price: Money(minorUnits: price, currency: currency),
                deliveryCount: Int(deliveries),
                grantsEntitlement: grantsEntitlement,
                isFinished: isFinished,
                isRevoked: isRevoked,
                refunds: refunds,
                requestedAt: requested,
                changedAt: max(changed, moved.max() ?? changed),
                credits: credits[id] ?? [:]
            )
        }
        try readCharges(of: ids, into: &books, on: connection)
        try readPostings(of: ids, into: &books, on: connection)
    }

    private static func refunds(in list: PostgresJSON?) throws -> [Refund] {
        guard let list else { return [] }
        return try JSONDecoder().decode([Refund].self, from: Data(list.bytes))
    }

    /// Reads the credits of delivery plans, by unit; copies credit nothing.
    private static func credits(
        of ids: [Int64],
        on connection: isolated PostgresConnection
    ) throws -> [Int64: [String: Int64]] {
        var credits: [Int64: [String: Int64]] = [:]
        for row in try connection.query(
            """
            SELECT id, target->>'unit', (sum((target->>'amount')::bigint) * quantity)::bigint
            FROM transactions CROSS JOIN LATERAL json_array_elements(delivery_plan) AS target
            WHERE id = ANY(\(ids)) AND reason NOT IN ('restore', 'ownedAgain')
                AND target->>'kind' = 'credit'
            GROUP BY id, quantity, target->>'unit'
            """
        ) {
            let (id, unit, amount) = try row.decode(Int64.self, String.self, Int64.self)
            credits[id, default: [:]][unit] = amount
        }
        return credits
    }

    private static func readCharges(
        of ids: [Int64],
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        for row in try connection.query(
            """
            SELECT attempt.transaction_id, charge.amount, charge.currency,
                coalesce(returned.amount, 0)::bigint,
                greatest(charge.created_at, returned.changed_at)
            FROM processor_attempts attempt
            -- The view is a union, which is searched by an index only from inside.
            CROSS JOIN LATERAL (
                SELECT * FROM processor_charges WHERE attempt_id = attempt.attempt_id OFFSET 0
            ) AS charge
            LEFT JOIN LATERAL (
                SELECT sum(amount) AS amount, max(created_at) AS changed_at
                FROM processor_returns WHERE attempt_id = attempt.attempt_id
            ) AS returned ON true
            WHERE attempt.transaction_id = ANY(\(ids)) AND attempt.kind = 'charge'
            """
        ) {
            let (id, amount, currency, returned, changed) = try row.decode(
                Int64.self,
                Int64.self,
                Currency.self,
                Int64.self,
                StoreTime.self
            )
            books[id]?.charges.append(
                TransactionBooks.Charge(
                    amount: Money(minorUnits: amount, currency: currency),
                    returned: Money(minorUnits: returned, currency: currency),
                    changedAt: changed
                )
            )
        }
    }

    /// Reads the postings, each with the sum that the buyer paid.
    private static func readPostings(
        of ids: [Int64],
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        for row in try connection.query(
            """
            SELECT posting.transaction_id, posting.kind, posting.posted_at,
                coalesce(entries.buyer, 0)::bigint, posting.currency,
                coalesce(entries.sum = 0, false)
            FROM ledger_postings posting
            CROSS JOIN LATERAL (
                SELECT sum(amount) AS sum,
                    -sum(amount) FILTER (WHERE account LIKE 'buyer:%') AS buyer
                FROM unnest(posting.accounts, posting.amounts) AS entry (account, amount)
            ) AS entries
            WHERE posting.transaction_id = ANY(\(ids))
            ORDER BY posting.posted_at, posting.xid, posting.position
            """
        ) {
            let (id, kind, posted, amount, currency, isBalanced) = try row.decode(
                Int64.self,
                String.self,
                StoreTime.self,
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

    /// Reads transactions from `receipts`.
    package static func readReceipts(
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
            let (id, isRevoked, signed) = try row.decode(Int64.self, Bool.self, StoreTime.self)
            books[id]?.receipts.append(
                TransactionBooks.Receipt(isRevoked: isRevoked, signedAt: signed)
            )
        }
        for row in try connection.query(
            "SELECT transaction_id FROM transaction_finishes WHERE transaction_id = ANY(\(ids))"
        ) {
            books[try row.decode(Int64.self)]?.isFinishedInReceipts = true
        }
    }

    /// Reads transactions from `fulfillment`.
    package static func readQueue(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        try readQueued(into: &books, on: connection)
        try readDeliveries(into: &books, on: connection)
        try readCredits(into: &books, on: connection)
    }

    private static func readQueued(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        for row in try connection.query(
            """
            SELECT queued.transaction_id, queued.state, queued.is_delivered,
                queued.finished_at IS NOT NULL, queued.changed_at,
                -- What the refund of a period takes away, its subscription says.
                CASE WHEN owned.account_id IS NOT NULL THEN owned.revoked_at IS NULL
                    AND (owned.ends_at IS NULL OR queued.revoked_at IS NULL) END
            FROM queue_transactions queued
            CROSS JOIN LATERAL (SELECT unpacked_json(queued.transaction)::json) AS transaction (json)
            LEFT JOIN entitlements owned ON owned.account_id = queued.account_id
                AND owned.bundle_id = queued.bundle_id
                AND owned.product_id = transaction.json->>'productID'
                AND owned.original_transaction_id = CASE
                    -- Each period that a family shares is a row of its own, and its copies have none.
                    WHEN transaction.json->>'sharedFrom' IS NULL
                        OR transaction.json->'subscription' IS NULL
                        THEN (transaction.json->>'originalID')::bigint
                    WHEN transaction.json->>'reason' = 'familyShared' THEN queued.transaction_id
                    ELSE (
                        SELECT max(share.original_transaction_id) FROM entitlements share
                        WHERE share.account_id = queued.account_id
                            AND share.bundle_id = queued.bundle_id
                            AND share.product_id = transaction.json->>'productID'
                            AND share.chain_id = (transaction.json->>'originalID')::bigint)
                    END
            WHERE queued.transaction_id = ANY(\(ids))
            """
        ) {
            let (id, state, isDelivered, isFinished, changed, isEntitled) = try row.decode(
                Int64.self,
                String.self,
                Bool.self,
                Bool.self,
                StoreTime.self,
                Bool?.self
            )
            books[id]?.queued = TransactionBooks.Queued(
                state: TransactionState(rawValue: state),
                isDelivered: isDelivered,
                isFinished: isFinished,
                changedAt: changed,
                isEntitled: isEntitled
            )
        }
    }

    private static func readDeliveries(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        for row in try connection.query(
            """
            SELECT transaction_id, target, kind, state FROM deliveries
            WHERE transaction_id = ANY(\(ids)) ORDER BY transaction_id, target
            """
        ) {
            let (id, target, kind, state) = try row.decode(
                Int64.self,
                String.self,
                String.self,
                String.self
            )
            books[id]?.queued?.deliveries.append(
                TransactionBooks.Delivery(
                    target: DeliveryTargetName(rawValue: target),
                    kind: kind,
                    state: state
                )
            )
        }
    }

    private static func readCredits(
        into books: inout [Int64: TransactionBooks],
        on connection: isolated PostgresConnection
    ) throws {
        let ids = Array(books.keys)
        for row in try connection.query(
            """
            SELECT transaction_id, unit, kind, amount FROM credit_entries
            WHERE transaction_id = ANY(\(ids)) ORDER BY transaction_id, unit, kind
            """
        ) {
            let (id, unit, kind, amount) = try row.decode(
                Int64.self,
                String.self,
                String.self,
                Int64.self
            )
            books[id]?.queued?.credits.append(
                TransactionBooks.Credit(unit: unit, kind: kind, amount: amount)
            )
        }
    }
}

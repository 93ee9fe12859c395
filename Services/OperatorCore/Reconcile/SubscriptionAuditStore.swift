import EventTypes
import Foundation
import Postgres
import StoreAPI
import Subscriptions

/// The SQL of the audit of subscriptions.
enum SubscriptionAuditStore {
    /// Begins to read all subscriptions from one on, each with its events, in order of their ids.
    ///
    /// It is one pass over the log, whose sorted result PostgreSQL keeps. Run it in a snapshot, so that
    /// what follows belongs to it.
    static func open(from first: Int64, on connection: isolated PostgresConnection) throws {
        try connection.execute("SET LOCAL enable_seqscan = on")
        try connection.execute("SET LOCAL enable_hashjoin = on")
        try connection.execute("SET LOCAL enable_sort = on")
        try connection.execute(
            """
            DECLARE subscription_events NO SCROLL CURSOR FOR
            SELECT s.id, unpacked_json(told.data)::json FROM subscriptions s
            LEFT JOIN outbox told ON told.subject = s.id::text
                AND told.type = '\(unsafe: EventType.subscriptionChanged.rawValue)'
            WHERE s.id >= \(unsafe: "\(first)") ORDER BY s.id, told.xid, told.position
            """
        )
    }

    /// The next events, each with its subscription.
    ///
    /// The event is `nil` for a subscription without any, and for an event that cannot be read: its
    /// version is then missing.
    static func next(
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(id: Int64, event: SubscriptionChanged?)] {
        try connection.query("FETCH \(unsafe: "\(limit)") FROM subscription_events").map { row in
            let (id, data) = try row.decode(Int64.self, PostgresJSON?.self)
            return (
                id,
                data.flatMap { try? EventCoding.decode(SubscriptionChanged.self, from: $0.bytes) }
            )
        }
    }

    /// The rows of subscriptions, without their events; those that cannot be read are left out.
    static func records(
        of ids: [Int64],
        on connection: isolated PostgresConnection
    ) throws -> [Int64: SubscriptionRecords] {
        var records: [Int64: SubscriptionRecords] = [:]
        for row in try connection.query(
            """
            SELECT id, account_id, bundle_id, group_id, data, due_at, due_kind,
                introductory_transaction
            FROM subscriptions WHERE id = ANY(\(ids))
            """
        ) {
            let (id, account, bundle, group, data, time, kind, introductory) = try row.decode(
                Int64.self,
                AccountID.self,
                BundleID.self,
                SubscriptionGroupID.self,
                PostgresJSON.self,
                StoreTime?.self,
                Int32?.self,
                Int64?.self
            )
            guard let subscription = decode(data) else { continue }
            var action: DueAction?
            if let time, let kind = kind.flatMap({ DueAction.Kind(rawValue: Int($0)) }) {
                action = DueAction(kind: kind, time: time, subscriptionID: subscription.id)
            }
            records[id] = SubscriptionRecords(
                subscription: subscription,
                isInItsPlace: subscription.id.number == id && subscription.accountID == account
                    && subscription.bundleID == bundle && subscription.groupID == group,
                action: action,
                introducedBy: introductory.map(TransactionID.init(number:))
            )
        }
        try readPayments(of: ids, into: &records, on: connection)
        return records
    }

    /// Reads the transactions of subscriptions with their attempts.
    ///
    /// A refund that has failed moved no money, so it is left out.
    private static func readPayments(
        of ids: [Int64],
        into records: inout [Int64: SubscriptionRecords],
        on connection: isolated PostgresConnection
    ) throws {
        for row in try connection.query(
            """
            SELECT s.id, t.id, t.state, t.requested_at, t.refunds, t.subscription,
                a.kind,
                -- A refund that is made once more is in the transaction already.
                CASE WHEN a.outcome = 'refunded' THEN 'settled' ELSE a.step END,
                a.is_owed, a.amount, a.currency, charge.amount,
                CASE WHEN charge.amount IS NOT NULL THEN (
                    SELECT coalesce(sum(returned.amount), 0)::bigint
                    FROM processor_returns returned WHERE returned.attempt_id = a.attempt_id
                ) END
            FROM subscriptions s
            JOIN transactions t ON t.account_id = s.account_id AND t.bundle_id = s.bundle_id
                AND t.product_type = 'autoRenewableSubscription'
                AND t.reason IN ('purchase', 'renewal')
                AND t.subscription -> 'terms' ->> 'groupID' = s.group_id
            LEFT JOIN processor_attempts a ON a.transaction_id = t.id
                AND a.kind IN ('charge', 'refund') AND a.step <> 'failed'
            -- The view is a union, which is searched by an index only from inside.
            LEFT JOIN LATERAL (
                SELECT amount FROM processor_charges
                WHERE attempt_id = a.attempt_id AND a.kind = 'charge' OFFSET 0
            ) AS charge ON true
            WHERE s.id = ANY(\(ids)) ORDER BY t.id, a.kind, a.number
            """
        ) {
            let (
                id, transaction, state, requested, refunds, period, kind, step, isOwed, amount,
                currency, charged, returned
            ) = try row.decode(
                Int64.self,
                Int64.self,
                String.self,
                StoreTime.self,
                PostgresJSON?.self,
                PostgresJSON.self,
                String?.self,
                String?.self,
                Bool?.self,
                Int64?.self,
                Currency?.self,
                Int64?.self,
                Int64?.self
            )
            let transactionID = TransactionID(number: transaction)
            if records[id]?.payments.last?.id != transactionID {
                let paid = try JSONDecoder()
                    .decode(TransactionPeriod.self, from: Data(period.bytes))
                records[id]?.payments.append(
                    SubscriptionRecords.Payment(
                        id: transactionID,
                        state: TransactionState(rawValue: state),
                        requestedAt: requested,
                        refunds: try refunds.map {
                            try JSONDecoder().decode([Refund].self, from: Data($0.bytes))
                        } ?? [],
                        charge: paid.charge,
                        beginsIntroductoryOffer: paid.beginsIntroductoryOffer
                    )
                )
            }
            guard let kind, let amount, let currency,
                let place = records[id]?.payments.indices.last
            else { continue }
            records[id]?.payments[place].attempts.append(
                SubscriptionRecords.Attempt(
                    isRefund: kind == "refund",
                    isSettled: step == "settled",
                    isOwed: isOwed ?? false,
                    amount: Money(minorUnits: amount, currency: currency),
                    charged: charged.map { Money(minorUnits: $0, currency: currency) },
                    returned: returned.map { Money(minorUnits: $0, currency: currency) }
                )
            )
        }
    }

    /// The copies of subscriptions in `receipts` or `fulfillment`.
    static func views(
        of ids: [Int64],
        in service: ServiceName,
        on connection: isolated PostgresConnection
    ) throws -> [Int64: SubscriptionRecords.View] {
        let end = service == .fulfillment ? "ends_at" : "NULL::timestamptz"
        let rows = try connection.query(
            "SELECT id, data, \(unsafe: end) FROM subscriptions WHERE id = ANY(\(ids))"
        ).map { row in
            let (id, data, end) = try row.decode(Int64.self, PostgresJSON.self, StoreTime?.self)
            return (
                id,
                SubscriptionRecords.View(subscription: decode(data), entitlementEnd: end)
            )
        }
        return Dictionary(rows) { $1 }
    }

    /// The notifications of changes of subscriptions in `receipts`, and the time after which those of
    /// each app are complete.
    ///
    /// An app's are complete after its server was named, unless old ones were deleted since. The
    /// second mark of the log is newer than all that were deleted.
    static func notifications(
        of ids: [Int64],
        on connection: isolated PostgresConnection
    ) throws -> (stored: [Int64: [SubscriptionHistory.Sent]], completeSince: [BundleID: StoreTime])
    {
        var stored: [Int64: [SubscriptionHistory.Sent]] = [:]
        // The condition is that of the index. Requests for refunds and failed extensions are no
        // changes of the subscription.
        for row in try connection.query(
            """
            SELECT transaction_id, occurrence, type, subtype FROM notifications
            WHERE transaction_id = ANY(\(ids)) AND NOT is_asked_for AND type NOT IN
                ('CONSUMPTION_REQUEST', 'REFUND_DECLINED', 'RENEWAL_EXTENSION', 'ONE_TIME_CHARGE')
            ORDER BY transaction_id, occurrence, position
            """
        ) {
            let (id, version, type, subtype) = try row.decode(
                Int64.self,
                Int32.self,
                String.self,
                String?.self
            )
            stored[id, default: []].append(
                SubscriptionHistory.Sent(
                    version: Int(version),
                    notification: SubscriptionNotification(type, subtype)
                )
            )
        }
        let rows = try connection.query(
            """
            SELECT bundle_id, greatest(changed_at,
                (SELECT at FROM notification_marks ORDER BY at OFFSET 1 LIMIT 1))
            FROM notification_endpoints
            """
        ).map { row in try row.decode(BundleID.self, StoreTime.self) }
        return (stored, Dictionary(rows) { $1 })
    }

    /// The transactions of periods as they are signed in `receipts`.
    ///
    /// A payload is packed: some of its texts are single bytes. The end is as it was signed, and a tab
    /// stands for the name of the price.
    static func signed(
        _ transactions: [Int64],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: SubscriptionRecords.SignedPeriod] {
        let rows = try connection.query(
            """
            SELECT transaction_id, coalesce(is_upgraded, false), revoked_at IS NOT NULL,
                substring(encode(payload, 'escape') FROM '"expiresDate":([0-9]+)')::bigint,
                substring(encode(payload, 'escape') FROM '\\t([0-9]+)')::bigint
            FROM signed_transactions WHERE transaction_id = ANY(\(transactions))
            """
        ).map { row in
            let (number, isUpgraded, isRevoked, end, price) = try row.decode(
                Int64.self,
                Bool.self,
                Bool.self,
                Int64?.self,
                Int64?.self
            )
            return (
                TransactionID(number: number),
                SubscriptionRecords.SignedPeriod(
                    isUpgraded: isUpgraded,
                    isRevoked: isRevoked,
                    end: end.map(StoreTime.init(millisecondsSinceEpoch:)),
                    price: price
                )
            )
        }
        return Dictionary(rows) { $1 }
    }

    /// The subscription of a row; `nil` if somebody has written something else there.
    private static func decode(_ data: PostgresJSON) -> Subscription? {
        try? JSONDecoder().decode(Subscription.self, from: Data(data.bytes))
    }
}

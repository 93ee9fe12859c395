import EventTypes
import Messaging
import Postgres
import StoreAPI

/// A part of a queue, read at one moment.
struct QueuePage: Sendable {
    /// The queue's revision at that moment, or 0 if it never had a transaction.
    let revision: Int64
    let changes: [QueueChange]
    /// The account, if the page reports it.
    let account: QueueAccountChange?
    /// The subscriptions, if the page reports them.
    let subscriptions: [QueueSubscriptionChange]
    /// Whether the page contains everything that was asked for.
    let isComplete: Bool

    /// The messages of all changes, in order.
    var messages: [QueueMessage] {
        let messages = changes.map(\.message)
        let others = (account.map { [$0.message] } ?? []) + subscriptions.map(\.message)
        guard !others.isEmpty else { return messages }
        return (messages + others).sorted { $0.revision < $1.revision }
    }

    /// The revision after which the next page of unfinished transactions begins; `nil` if there is
    /// none.
    var nextUnfinished: Int64? { isComplete ? nil : changes.map(\.revision).max() }

    /// The highest revision on the page, after which the next page begins; `nil` if it has no changes.
    var lastRevision: Int64? {
        let revisions = changes.map(\.revision) + subscriptions.map(\.revision)
        return (revisions + (account.map { [$0.revision] } ?? [])).max()
    }
}

/// The SQL of clients' reads.
///
/// Each read is one statement, and so sees one snapshot of the database.
struct QueueReadStore: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> StoreTime

    /// Returns a transaction's queue, and whether the transaction was paid.
    func queue(of id: TransactionID) async throws -> (queue: QueueKey, isPaid: Bool)? {
        try await client.withConnection { connection in
            try connection.read(QueueStore.transactions([id]))[id].map { ($0.queue, $0.isPaid) }
        }
    }

    /// Reads a page of the unfinished transactions.
    ///
    /// Pages are in the order of the last changes. Within a page the oldest transaction is first. A
    /// transaction that changes between two pages is on a later page again. The first page has the
    /// account too.
    ///
    /// - Parameters:
    ///   - queue: The account in its app.
    ///   - revision: ``QueuePage/nextUnfinished`` of the page before; 0 for the first page.
    ///   - last: The revision of the last change that is read.
    ///   - limit: The number of transactions.
    /// - Returns: The page.
    /// - Throws: `PostgresError`; `DecodingError` if a row is not as it was written.
    func unfinished(
        in queue: QueueKey,
        after revision: Int64 = 0,
        through last: Int64 = .max,
        limit: Int = 500
    ) async throws -> QueuePage {
        try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT queues.revision, row.transaction_id, row.revision, row.is_delivered,
                    row.finished_at, row.transaction, row.contents
                FROM queues LEFT JOIN LATERAL (
                    (
                        SELECT transaction_id, revision, is_delivered, finished_at, transaction,
                            contents
                        FROM queue_transactions
                        WHERE account_id = queues.account_id AND bundle_id = queues.bundle_id
                            AND finished_at IS NULL AND revision > \(revision)
                            AND revision <= \(last)
                        ORDER BY revision LIMIT \(limit)
                    ) UNION ALL (
                        SELECT NULL, revision, NULL, NULL, account, NULL FROM queue_accounts
                        WHERE account_id = queues.account_id AND bundle_id = queues.bundle_id
                            AND \(revision == 0)
                    )
                ) AS row ON true
                WHERE queues.account_id = \(queue.accountID)
                    AND queues.bundle_id = \(queue.bundleID)
                ORDER BY row.transaction_id
                """
            )
            return try Self.page(rows, of: queue, limit: limit)
        }
    }

    /// Reads what changed after a revision, in the order of the changes.
    ///
    /// This includes finished transactions, the account, and subscriptions that changed without a
    /// transaction.
    ///
    /// A transaction that changed several times appears once, in its current state.
    func changes(
        in queue: QueueKey,
        after revision: Int64,
        limit: Int = 500
    ) async throws -> QueuePage {
        try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT queues.revision, row.transaction_id, row.revision, row.is_delivered,
                    row.finished_at, row.transaction, row.contents
                FROM queues LEFT JOIN LATERAL (
                    (
                        SELECT transaction_id, revision, is_delivered, finished_at, transaction,
                            contents
                        FROM queue_transactions
                        WHERE account_id = queues.account_id AND bundle_id = queues.bundle_id
                            AND finished_at IS NULL AND revision > \(revision)
                        ORDER BY revision LIMIT \(limit)
                    ) UNION ALL (
                        SELECT transaction_id, revision, is_delivered, finished_at, transaction,
                            contents
                        FROM queue_transactions
                        WHERE account_id = queues.account_id AND bundle_id = queues.bundle_id
                            AND finished_at IS NOT NULL AND revision > \(revision)
                        ORDER BY revision LIMIT \(limit)
                    ) UNION ALL (
                        SELECT NULL, revision, NULL, NULL, account, NULL FROM queue_accounts
                        WHERE account_id = queues.account_id AND bundle_id = queues.bundle_id
                            AND revision > \(revision)
                    ) UNION ALL (
                        SELECT subscription_id, revision, NULL, NULL, subscription, NULL
                        FROM queue_subscriptions
                        WHERE account_id = queues.account_id AND bundle_id = queues.bundle_id
                            AND revision > \(revision)
                        ORDER BY revision LIMIT \(limit)
                    )
                    ORDER BY revision LIMIT \(limit)
                ) AS row ON true
                WHERE queues.account_id = \(queue.accountID)
                    AND queues.bundle_id = \(queue.bundleID)
                ORDER BY row.revision
                """
            )
            return try Self.page(rows, of: queue, limit: limit)
        }
    }

    /// Reads a page of the transactions that gave the account what it owns, finished ones included,
    /// in the order of their last change.
    func entitlementTransactions(
        in queue: QueueKey,
        after revision: Int64,
        limit: Int
    ) async throws -> QueuePage {
        let statement = Self.entitlementsStatement(
            in: queue,
            after: revision,
            limit: limit,
            at: now()
        )
        return try await client.withConnection { connection in
            try Self.page(try connection.query(statement), of: queue, limit: limit)
        }
    }

    /// The statement that reads a page of the transactions that gave the account what it owns.
    ///
    /// What has ended or was taken away is not read, however much there is of it.
    ///
    /// - Parameters:
    ///   - queue: The account in its app.
    ///   - revision: The revision after which the page begins.
    ///   - limit: The number of transactions.
    ///   - time: The present.
    ///   - prefix: Text before the statement, such as `EXPLAIN`.
    /// - Returns: The statement.
    static func entitlementsStatement(
        in queue: QueueKey,
        after revision: Int64,
        limit: Int,
        at time: StoreTime,
        prefix: String = ""
    ) -> SQL {
        """
        \(unsafe: prefix) SELECT queues.revision, row.transaction_id, row.revision,
            row.is_delivered, row.finished_at, row.transaction, row.contents
        FROM queues JOIN (
            SELECT account_id, bundle_id, original_transaction_id AS id FROM entitlements
            WHERE revoked_at IS NULL AND ends_at IS NULL
            UNION
            SELECT account_id, bundle_id, original_transaction_id FROM entitlements
            WHERE revoked_at IS NULL AND ends_at > \(time) AND NOT EXISTS (
                SELECT FROM subscriptions
                WHERE subscriptions.id = entitlements.original_transaction_id)
            UNION
            SELECT account_id, bundle_id,
                CASE WHEN \(time) < starts_at AND \(time) < earlier_ends_at
                    THEN earlier_transaction_id ELSE transaction_id END
            FROM subscriptions WHERE ends_at > \(time)
        ) AS given USING (account_id, bundle_id)
            JOIN queue_transactions AS row ON row.transaction_id = given.id
        WHERE queues.account_id = \(queue.accountID) AND queues.bundle_id = \(queue.bundleID)
            AND row.revision > \(revision)
        ORDER BY row.revision LIMIT \(limit)
        """
    }

    /// Returns an identifier of the database, which changes at each start of its server.
    ///
    /// It is different after a restore from a backup, because a backup is restored into another
    /// server, into another database, or before a start.
    func database() async throws -> String {
        try await client.withConnection { connection in
            let row = try connection.query(
                """
                SELECT left(encode(sha256(convert_to(concat_ws('.',
                    (SELECT oid FROM pg_database WHERE datname = current_database()),
                    extract(epoch FROM pg_postmaster_start_time())
                ), 'UTF8')), 'hex'), 16)
                """
            ).first
            return try row?.decode(String.self) ?? ""
        }
    }

    /// Returns the position up to which this service's events are published.
    func outboxMark() async throws -> OutboxMark {
        try await client.withConnection { connection in try OutboxMark(on: connection) }
    }

    /// Reads the revisions of queues.
    ///
    /// A queue that never had a transaction is left out.
    func revisions(of queues: [QueueKey]) async throws -> [QueueKey: Int64] {
        try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT account_id, bundle_id, revision FROM queues
                JOIN unnest(\(queues.map(\.accountID)), \(queues.map(\.bundleID)))
                    AS wanted (account_id, bundle_id) USING (account_id, bundle_id)
                """
            )
            return try rows.valuesByQueue(Int64.self)
        }
    }

    /// Reads a page of what the account owns or owned, and all that it may use now by name.
    ///
    /// The first page has the newest purchases. Only an account with more than one page needs a
    /// second statement, for the names of what is on the others.
    func entitlements(
        of queue: QueueKey,
        after: TransactionID? = nil,
        limit: Int = EntitlementReadStore.pageSize
    ) async throws -> EntitlementsResponse {
        let now = now()
        return try await client.withConnection { connection in
            let page = try EntitlementReadStore.page(
                of: queue,
                after: after,
                limit: limit,
                at: now,
                on: connection
            )
            var lasting = page.owned
            if after != nil || page.next != nil {
                lasting =
                    try EntitlementReadStore.lasting(of: [queue], at: now, on: connection)[queue]
                    ?? []
            }
            return EntitlementsResponse(
                entitlements: page.owned.map(\.entitlement),
                named: NamedEntitlementRules.inForce(lasting, at: now),
                next: page.next
            )
        }
    }

    /// The statement that reads the account's balances.
    ///
    /// - Parameters:
    ///   - queue: The account in its app.
    ///   - prefix: Text before the statement, such as `EXPLAIN`.
    /// - Returns: The statement.
    static func balancesStatement(of queue: QueueKey, prefix: String = "") -> SQL {
        """
        \(unsafe: prefix) SELECT unit, balance::bigint FROM credit_balances
        WHERE account_id = \(queue.accountID) AND bundle_id = \(queue.bundleID)
        """
    }

    /// Reads the account's balance of each unit it ever had.
    ///
    /// It reads one row for each unit, however many entries there are.
    func balances(of queue: QueueKey) async throws -> [String: Int64] {
        try await client.withConnection { connection in
            let rows = try connection.query(Self.balancesStatement(of: queue))
            var balances: [String: Int64] = [:]
            for row in rows {
                let (unit, balance) = try row.decode(String.self, Int64.self)
                balances[unit] = balance
            }
            return balances
        }
    }

    private static func page(
        _ rows: PostgresRows,
        of queue: QueueKey,
        limit: Int
    ) throws -> QueuePage {
        var queueRevision: Int64 = 0
        var changes: [QueueChange] = []
        var account: QueueAccountChange?
        var subscriptions: [QueueSubscriptionChange] = []
        for row in rows {
            let (
                current, number, revision, isDelivered, finishedAt, packed, contents
            ) = try row.decode(
                Int64.self,
                Int64?.self,
                Int64?.self,
                Bool?.self,
                StoreTime?.self,
                [UInt8]?.self,
                PostgresJSON?.self
            )
            queueRevision = current
            // A queue without any changes is one row of nulls.
            guard let revision, let packed else { continue }
            guard let number else {
                account = QueueAccountChange(
                    queue: queue,
                    revision: revision,
                    snapshot: try AccountSnapshot(packed: packed)
                )
                continue
            }
            // A subscription has an id, and is never delivered.
            guard let isDelivered else {
                subscriptions.append(
                    QueueSubscriptionChange(
                        queue: queue,
                        id: TransactionID(number: number),
                        revision: revision,
                        snapshot: try SubscriptionSnapshot(packed: packed)
                    )
                )
                continue
            }
            changes.append(
                QueueChange(
                    queue: queue,
                    transactionID: TransactionID(number: number),
                    revision: revision,
                    snapshot: try TransactionSnapshot(packed: packed),
                    isDelivered: isDelivered,
                    finishedAt: finishedAt,
                    contents: contents?.bytes
                )
            )
        }
        return QueuePage(
            revision: queueRevision,
            changes: changes,
            account: account,
            subscriptions: subscriptions,
            isComplete: changes.count + subscriptions.count + (account == nil ? 0 : 1) < limit
        )
    }
}

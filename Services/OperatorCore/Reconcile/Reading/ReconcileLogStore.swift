import EventTypes
import Postgres

/// The SQL of `reconcile` that compares whole tables of one service with its event log.
enum ReconcileLogStore {
    /// A fact that a service publishes in exactly one event, written in the same database
    /// transaction.
    enum Fact: CaseIterable, Sendable {
        case purchase, receipt, finish

        var service: OperatedService {
            switch self {
            case .purchase: .payments
            case .receipt: .receipts
            case .finish: .fulfillment
            }
        }

        var type: EventType {
            switch self {
            case .purchase: .transactionPurchased
            case .receipt: .receiptIssued
            case .finish: .transactionFinished
            }
        }

        /// The transactions to which the fact applies.
        fileprivate var transactions: String {
            switch self {
            case .purchase: "SELECT id FROM transactions WHERE state = 'purchased' AND price > 0"
            case .receipt: "SELECT DISTINCT transaction_id AS id FROM signed_transactions"
            case .finish:
                "SELECT transaction_id AS id FROM queue_transactions WHERE finished_at IS NOT NULL"
            }
        }
    }

    /// The transactions whose fact no event of the log, or more than one event, publishes.
    ///
    /// It reads the table from a transaction on, and the log from a time that is before all their
    /// events. Run it in a separate database transaction.
    static func miscounted(
        _ fact: Fact,
        from first: Int64,
        since time: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(id: Int64, count: Int64)] {
        try connection.execute("SET LOCAL enable_seqscan = on")
        try connection.execute("SET LOCAL enable_hashjoin = on")
        return try connection.query(
            """
            SELECT fact.id, coalesce(events.count, 0) FROM (\(unsafe: fact.transactions)) AS fact
            LEFT JOIN (
                SELECT subject, count(*) AS count FROM outbox
                WHERE type = \(fact.type.rawValue) AND time >= \(time) GROUP BY subject
            ) AS events ON events.subject = fact.id::text
            WHERE fact.id >= \(first) AND coalesce(events.count, 0) <> 1
            ORDER BY fact.id LIMIT \(Int64(limit))
            """
        ).map { try $0.decode(Int64.self, Int64.self) }
    }

    // MARK: - Accounts

    /// An account in an app.
    struct AccountKey: Hashable, Sendable, CustomStringConvertible {
        let accountID: String
        let bundleID: String

        var description: String { "\(accountID) in \(bundleID)" }
    }

    /// A table that holds the versions of accounts.
    enum AccountTable: String {
        /// The versions that `payments` has.
        case known = "accounts"
        /// The versions that `fulfillment` shows to the accounts' clients.
        case sent = "queue_accounts"
    }

    /// The next accounts after one, in order of their keys, with their versions.
    ///
    /// Accounts that never changed are left out.
    static func versions(
        _ table: AccountTable,
        after last: AccountKey?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(key: AccountKey, version: Int32)] {
        let (account, bundle) = (last?.accountID ?? "", last?.bundleID ?? "")
        return try connection.query(
            """
            SELECT account_id, bundle_id, version FROM \(unsafe: table.rawValue)
            WHERE (account_id, bundle_id) > (\(account), \(bundle)) AND version > 0
            ORDER BY account_id, bundle_id LIMIT \(Int64(limit))
            """
        ).map(version)
    }

    /// The versions of some accounts.
    static func versions(
        _ table: AccountTable,
        of keys: [AccountKey],
        on connection: isolated PostgresConnection
    ) throws -> [AccountKey: Int32] {
        let rows = try connection.query(
            """
            SELECT account_id, bundle_id, version FROM \(unsafe: table.rawValue)
            WHERE (account_id, bundle_id) IN (
                SELECT * FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
            )
            """
        ).map(version)
        return Dictionary(rows.map { ($0.key, $0.version) }) { $1 }
    }

    /// Whether `payments` has published a change of an account since a moment.
    static func hasChanged(
        _ key: AccountKey,
        since time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            SELECT 1 FROM outbox
            WHERE type = \(EventType.accountChanged.rawValue) AND key = \(key.accountID)
                AND time >= \(time)
            LIMIT 1
            """
        ).isEmpty
    }

    private static func version(
        _ row: PostgresRow
    ) throws -> (key: AccountKey, version: Int32) {
        let (account, bundle, version) = try row.decode(String.self, String.self, Int32.self)
        return (AccountKey(accountID: account, bundleID: bundle), version)
    }
}

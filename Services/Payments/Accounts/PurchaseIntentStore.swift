import EventTypes
import Messaging
import Postgres

/// The table of purchase intents.
///
/// Its rows are changed under the lock of their account (``AccountStore``).
enum PurchaseIntentStore {
    /// A row of the table.
    struct Row: Sendable {
        let intent: PurchaseIntent
        let hasEnded: Bool
    }

    /// The open intents of accounts, the oldest first.
    static func open(
        of keys: Set<AccountKey>
    ) -> PostgresReading<[AccountKey: [PurchaseIntent]]> {
        guard !keys.isEmpty else { return PostgresReading(known: [:]) }
        let keys = Array(keys)
        return PostgresReading(
            """
            SELECT account_id, bundle_id, id, product_id, quantity, created_at
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS asked (account_id, bundle_id)
            JOIN purchase_intents USING (account_id, bundle_id)
            WHERE ended_at IS NULL ORDER BY created_at, id
            """
        ) { rows in
            var intents: [AccountKey: [PurchaseIntent]] = [:]
            for row in rows {
                let (account, bundle, id, product, quantity, createdAt) = try row.decode(
                    AccountID.self,
                    BundleID.self,
                    PurchaseIntentID.self,
                    ProductID.self,
                    Int32.self,
                    StoreTime.self
                )
                intents[AccountKey(accountID: account, bundleID: bundle), default: []].append(
                    PurchaseIntent(
                        id: id,
                        productID: product,
                        quantity: Int(quantity),
                        createdAt: createdAt
                    )
                )
            }
            return intents
        }
    }

    /// An intent of an account, open or not; `nil` if it does not exist or belongs to another
    /// account.
    static func find(
        _ id: PurchaseIntentID,
        of key: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> Row? {
        try connection.query(
            """
            SELECT id, product_id, quantity, created_at, ended_at IS NOT NULL
            FROM purchase_intents
            WHERE id = \(id) AND account_id = \(key.accountID) AND bundle_id = \(key.bundleID)
            """
        ).first.map { try row(in: $0) }
    }

    /// The intent that was begun under an account's key, if there is one.
    static func find(
        begunWith idempotencyKey: IdempotencyKey,
        of key: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> Row? {
        try connection.query(
            """
            SELECT id, product_id, quantity, created_at, ended_at IS NOT NULL
            FROM purchase_intents
            WHERE idempotency_key = \(idempotencyKey) AND account_id = \(key.accountID)
                AND bundle_id = \(key.bundleID)
            """
        ).first.map { try row(in: $0) }
    }

    /// Writes a new intent.
    static func insert(
        _ intent: PurchaseIntent,
        of key: AccountKey,
        idempotencyKey: IdempotencyKey?,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO purchase_intents
                (id, account_id, bundle_id, product_id, quantity, created_at, idempotency_key)
            VALUES (\(intent.id), \(key.accountID), \(key.bundleID), \(intent.productID),
                \(Int32(intent.quantity)), \(intent.createdAt),
                \(idempotencyKey as IdempotencyKey?))
            """
        )
    }

    /// Ends intents for good, each as paid by a payment or as declined.
    static func end(
        _ intents: [(id: PurchaseIntentID, transactionID: TransactionID?)],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !intents.isEmpty else { return }
        try connection.execute(
            """
            UPDATE purchase_intents AS i SET ended_at = \(time), transaction_id = u.transaction_id
            FROM unnest(\(intents.map(\.id)), \(intents.map { $0.transactionID?.number }))
                AS u (id, transaction_id)
            WHERE i.id = u.id AND i.ended_at IS NULL
            """
        )
    }

    private static func row(in row: PostgresRow) throws -> Row {
        let (id, product, quantity, createdAt, hasEnded) = try row.decode(
            PurchaseIntentID.self,
            ProductID.self,
            Int32.self,
            StoreTime.self,
            Bool.self
        )
        return Row(
            intent: PurchaseIntent(
                id: id,
                productID: product,
                quantity: Int(quantity),
                createdAt: createdAt
            ),
            hasEnded: hasEnded
        )
    }
}

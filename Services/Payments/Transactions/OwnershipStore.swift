import EventTypes
import Messaging
import Postgres

/// The table of ownerships, which decides between purchases of one non-consumable (trap 22).
///
/// Locks on its rows decide which purchase is charged. They are always taken in the order of the
/// keys.
enum OwnershipStore {
    /// Claims ownerships for transactions that are to be charged.
    ///
    /// An ownership that already has a holder keeps it, and the result names the holder. The rows
    /// stay locked to the end of the database transaction, so the holder's outcome cannot be
    /// missed.
    static func claim(
        _ claims: [(key: OwnershipKey, transactionID: TransactionID)],
        on connection: isolated PostgresConnection
    ) throws -> [OwnershipKey: Ownership] {
        guard !claims.isEmpty else { return [:] }
        var first: [OwnershipKey: TransactionID] = [:]
        for claim in claims where first[claim.key] == nil {
            first[claim.key] = claim.transactionID
        }
        let ordered = first.sorted { $0.key < $1.key }
        let rows = try connection.query(
            """
            INSERT INTO ownerships AS o (account_id, bundle_id, product_id, transaction_id)
            SELECT * FROM unnest(
                \(ordered.map(\.key.accountID)), \(ordered.map(\.key.bundleID)),
                \(ordered.map(\.key.productID)), \(ordered.map(\.value.number)))
            ON CONFLICT (account_id, bundle_id, product_id) DO UPDATE
                SET transaction_id = coalesce(o.transaction_id, excluded.transaction_id)
            RETURNING account_id, bundle_id, product_id, transaction_id, owned_at
            """
        )
        return try ownerships(in: rows)
    }

    /// Reads and locks ownerships.
    ///
    /// The rows stay locked to the end of the database transaction, even those without a holder.
    static func lock(
        _ keys: [OwnershipKey],
        on connection: isolated PostgresConnection
    ) throws -> [OwnershipKey: Ownership] {
        guard !keys.isEmpty else { return [:] }
        let ordered = keys.sorted()
        let rows = try connection.query(
            """
            SELECT o.account_id, o.bundle_id, o.product_id, o.transaction_id, o.owned_at
            FROM ownerships o JOIN unnest(
                \(ordered.map(\.accountID)), \(ordered.map(\.bundleID)), \(ordered.map(\.productID))
            ) AS k (account_id, bundle_id, product_id) USING (account_id, bundle_id, product_id)
            ORDER BY o.account_id, o.bundle_id, o.product_id FOR UPDATE OF o
            """
        )
        return try ownerships(in: rows)
    }

    /// Decodes rows of `account_id, bundle_id, product_id, transaction_id, owned_at`; a row without
    /// a transaction has no holder.
    private static func ownerships(in rows: PostgresRows) throws -> [OwnershipKey: Ownership] {
        var ownerships: [OwnershipKey: Ownership] = [:]
        for row in rows {
            let (account, bundle, product, holder, ownedAt) = try row.decode(
                AccountID.self,
                BundleID.self,
                ProductID.self,
                Int64?.self,
                StoreTime?.self
            )
            guard let holder else { continue }
            let key = OwnershipKey(accountID: account, bundleID: bundle, productID: product)
            ownerships[key] = Ownership(holder: TransactionID(number: holder), ownedAt: ownedAt)
        }
        return ownerships
    }

    /// Applies at most one change to each ownership, by ``OwnershipRules``.
    static func change(
        _ changes: [OwnershipChange],
        on connection: isolated PostgresConnection
    ) throws {
        guard !changes.isEmpty else { return }
        let ordered = changes.sorted { $0.key < $1.key }
        try connection.enqueue(
            """
            UPDATE ownerships AS o SET owned_at = u.owned_at,
                transaction_id = CASE WHEN u.owned_at IS NOT NULL THEN u.holder END
            FROM unnest(
                \(ordered.map(\.key.accountID)), \(ordered.map(\.key.bundleID)),
                \(ordered.map(\.key.productID)), \(ordered.map(\.holder.number)),
                \(ordered.map(\.ownedAt))) AS u (account_id, bundle_id, product_id, holder, owned_at)
            WHERE o.account_id = u.account_id AND o.bundle_id = u.bundle_id
                AND o.product_id = u.product_id
                AND CASE WHEN u.owned_at IS NULL THEN o.transaction_id = u.holder
                    ELSE o.owned_at IS NULL END
            """
        )
    }
}

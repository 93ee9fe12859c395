import EventTypes
import Messaging
import Postgres

/// The statements that only a rebuild needs.
enum PaymentsRebuildStore {
    /// Writes the tax rates of transactions whose rows were inserted before their charge.
    static func setTaxRates(
        _ records: [TransactionRecord],
        on shadow: isolated PostgresConnection
    ) throws {
        guard !records.isEmpty else { return }
        try shadow.execute(
            """
            UPDATE transactions AS t SET tax_basis_points = u.tax_basis_points
            FROM unnest(
                \(records.map(\.transaction.id.number)),
                \(records.map { Int32($0.taxBasisPoints) })
            ) AS u (id, tax_basis_points)
            WHERE t.id = u.id
            """
        )
    }

    /// Sets or removes the owners of non-consumables.
    static func setOwners(
        _ owners: [(key: OwnershipKey, ownership: Ownership?)],
        on shadow: isolated PostgresConnection
    ) throws {
        guard !owners.isEmpty else { return }
        try shadow.execute(
            """
            INSERT INTO ownerships (account_id, bundle_id, product_id, transaction_id, owned_at)
            SELECT * FROM unnest(
                \(owners.map(\.key.accountID)), \(owners.map(\.key.bundleID)),
                \(owners.map(\.key.productID)), \(owners.map { $0.ownership?.holder.number }),
                \(owners.map { $0.ownership?.ownedAt }))
            ON CONFLICT (account_id, bundle_id, product_id) DO UPDATE
                SET transaction_id = excluded.transaction_id, owned_at = excluded.owned_at
            """
        )
    }
}

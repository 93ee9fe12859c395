import Foundation
public import Postgres

/// The migrations that make the ledger's tables in a service's database.
public enum LedgerMigrations {
    /// The migrations, in order.
    ///
    /// They have to be applied after those of `Messaging`, because postings share its commit order.
    ///
    /// - Parameter role: The service's run-time role, which may only read and insert.
    /// - Returns: The migrations that make the ledger's tables.
    public static func all(role: String) -> [PostgresMigration] {
        [
            ("ledger_m0001_ledger", PackageResources.m0001_ledger_sql),
            ("ledger_m0002_places", PackageResources.m0002_places_sql),
            ("ledger_m0003_movements", PackageResources.m0003_movements_sql),
        ].map { name, bytes in
            PostgresMigration(
                name: name,
                sql: String(decoding: bytes, as: UTF8.self).replacing("{role}", with: role)
            )
        }
    }
}

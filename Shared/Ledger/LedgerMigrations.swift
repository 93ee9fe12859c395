import Foundation
public import Postgres

/// The ledger's tables as migrations of the service that owns them.
public enum LedgerMigrations {
    /// The migrations, in order, to be applied after those of `Messaging`, whose order of commits
    /// postings take part in.
    ///
    /// - Parameter role: The service's run-time role, which may read and insert, and nothing else.
    /// - Returns: The migrations that make the ledger's tables.
    public static func all(role: String) -> [PostgresMigration] {
        [
            ("ledger_m0001_ledger", PackageResources.m0001_ledger_sql),
            ("ledger_m0002_places", PackageResources.m0002_places_sql),
        ].map { name, bytes in
            PostgresMigration(
                name: name,
                sql: String(decoding: bytes, as: UTF8.self).replacing("{role}", with: role)
            )
        }
    }
}

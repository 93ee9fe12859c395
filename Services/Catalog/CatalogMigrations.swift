import EventTypes
import Messaging
import Postgres

/// All migrations of the database of `catalog`, in order.
///
/// A database records applied migrations by these names.
enum CatalogMigrations {
    static let all: [PostgresMigration] =
        MessagingMigrations.all(role: ServiceName.catalog.databaseRole)
        + [
            PostgresMigration(name: "m0001_products", bytes: PackageResources.m0001_products_sql),
            PostgresMigration(
                name: "m0002_subscription_groups",
                bytes: PackageResources.m0002_subscription_groups_sql
            ),
        ]
}

import EventTypes
import Messaging
import Postgres

/// All migrations of the database of `receipts`, in order.
///
/// Databases record them under these names.
enum ReceiptsMigrations {
    static let all: [PostgresMigration] =
        MessagingMigrations.all(role: ServiceName.receipts.databaseRole)
        + [
            ("m0001_receipts", PackageResources.m0001_receipts_sql),
            ("m0002_server_api", PackageResources.m0002_server_api_sql),
            ("m0003_notifications", PackageResources.m0003_notifications_sql),
            ("m0004_notification_log", PackageResources.m0004_notification_log_sql),
            ("m0005_app_transaction_ids", PackageResources.m0005_app_transaction_ids_sql),
            ("m0006_subscriptions", PackageResources.m0006_subscriptions_sql),
            (
                "m0007_subscription_notifications",
                PackageResources.m0007_subscription_notifications_sql
            ),
            ("m0008_upgraded_periods", PackageResources.m0008_upgraded_periods_sql),
            ("m0009_refund_requests", PackageResources.m0009_refund_requests_sql),
            ("m0010_mass_extensions", PackageResources.m0010_mass_extensions_sql),
            ("m0011_products", PackageResources.m0011_products_sql),
            ("m0012_shared_periods", PackageResources.m0012_shared_periods_sql),
            (
                "m0013_notifications_asked_at", PackageResources.m0013_notifications_asked_at_sql
            ),
            ("m0014_subscription_pages", PackageResources.m0014_subscription_pages_sql),
        ].map(PostgresMigration.init(name:bytes:))
}

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
            ("m0003_server_api", PackageResources.m0003_server_api_sql),
            ("m0004_notifications", PackageResources.m0004_notifications_sql),
            ("m0005_notification_log", PackageResources.m0005_notification_log_sql),
            ("m0006_app_transaction_ids", PackageResources.m0006_app_transaction_ids_sql),
        ].map(PostgresMigration.init(name:bytes:))
}

import EventTypes
import Messaging
import Postgres

/// All migrations of the database of `fulfillment`, in order.
///
/// Databases record them under these names.
enum FulfillmentMigrations {
    static let all: [PostgresMigration] =
        MessagingMigrations.all(role: ServiceName.fulfillment.databaseRole)
        + [
            ("fulfillment_m0001_queues", PackageResources.m0001_fulfillment_sql),
            ("fulfillment_m0002_queue_accounts", PackageResources.m0002_queue_accounts_sql),
            ("fulfillment_m0003_hosted_content", PackageResources.m0003_hosted_content_sql),
            ("fulfillment_m0004_content_uploads", PackageResources.m0004_content_uploads_sql),
            ("fulfillment_m0005_traces", PackageResources.m0005_traces_sql),
            ("fulfillment_m0006_webhooks_again", PackageResources.m0006_webhooks_again_sql),
            ("fulfillment_m0007_subscriptions", PackageResources.m0007_subscriptions_sql),
            ("fulfillment_m0008_products", PackageResources.m0008_products_sql),
            (
                "fulfillment_m0009_queue_subscriptions",
                PackageResources.m0009_queue_subscriptions_sql
            ),
            ("fulfillment_m0010_deferred", PackageResources.m0010_deferred_sql),
            (
                "fulfillment_m0011_purchases_by_account",
                PackageResources.m0011_purchases_by_account_sql
            ),
            ("fulfillment_m0012_shared_chains", PackageResources.m0012_shared_chains_sql),
            (
                "fulfillment_m0013_entitlements_by_purchase",
                PackageResources.m0013_entitlements_by_purchase_sql
            ),
            ("fulfillment_m0014_credit_balances", PackageResources.m0014_credit_balances_sql),
            (
                "fulfillment_m0015_entitlements_in_force",
                PackageResources.m0015_entitlements_in_force_sql
            ),
            (
                "fulfillment_m0016_entitlements_by_product",
                PackageResources.m0016_entitlements_by_product_sql
            ),
            (
                "fulfillment_m0017_subscription_pages",
                PackageResources.m0017_subscription_pages_sql
            ),
            ("fulfillment_m0018_credit_entries", PackageResources.m0018_credit_entries_sql),
        ].map(PostgresMigration.init(name:bytes:))
}

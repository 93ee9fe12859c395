import EventTypes
import Ledger
import Messaging
import Postgres

/// All migrations of the database of `payments`, in order.
///
/// A database records applied migrations by these names.
enum PaymentsMigrations {
    /// The database role of `payments`.
    static let role = ServiceName.payments.databaseRole

    static let all: [PostgresMigration] =
        MessagingMigrations.all(role: role) + LedgerMigrations.all(role: role)
        + [
            ("payments_m0001_payments", PackageResources.m0001_payments_sql),
            ("payments_m0002_sandbox_processor", PackageResources.m0002_sandbox_processor_sql),
            ("payments_m0003_accounts", PackageResources.m0003_accounts_sql),
            ("payments_m0004_resumptions", PackageResources.m0004_resumptions_sql),
            ("payments_m0005_operator", PackageResources.m0005_operator_sql),
            ("payments_m0006_traces", PackageResources.m0006_traces_sql),
            ("payments_m0007_transaction_ids", PackageResources.m0007_transaction_ids_sql),
            ("payments_m0008_clock", PackageResources.m0008_clock_sql),
            ("payments_m0009_subscriptions", PackageResources.m0009_subscriptions_sql),
            ("payments_m0010_test_settings", PackageResources.m0010_test_settings_sql),
            ("payments_m0011_acts", PackageResources.m0011_acts_sql),
            (
                "payments_m0012_introductory_offers",
                PackageResources.m0012_introductory_offers_sql
            ),
            (
                "payments_m0013_promotional_offers",
                PackageResources.m0013_promotional_offers_sql
            ),
            ("payments_m0014_calls", PackageResources.m0014_calls_sql),
            ("payments_m0015_sandbox_waits", PackageResources.m0015_sandbox_waits_sql),
            ("payments_m0016_payment_methods", PackageResources.m0016_payment_methods_sql),
            ("payments_m0017_processor_events", PackageResources.m0017_processor_events_sql),
            ("payments_m0018_offer_codes", PackageResources.m0018_offer_codes_sql),
            ("payments_m0019_nonces_end", PackageResources.m0019_nonces_end_sql),
            ("payments_m0020_refund_requests", PackageResources.m0020_refund_requests_sql),
            ("payments_m0021_mass_extensions", PackageResources.m0021_mass_extensions_sql),
            ("payments_m0022_families", PackageResources.m0022_families_sql),
            ("payments_m0023_family_shares", PackageResources.m0023_family_shares_sql),
            (
                "payments_m0024_processor_movements",
                PackageResources.m0024_processor_movements_sql
            ),
            ("payments_m0025_disputes", PackageResources.m0025_disputes_sql),
            ("payments_m0026_cards", PackageResources.m0026_cards_sql),
            ("payments_m0027_price_enrolments", PackageResources.m0027_price_enrolments_sql),
            (
                "payments_m0028_processor_balances",
                PackageResources.m0028_processor_balances_sql
            ),
            ("payments_m0029_failed_refunds", PackageResources.m0029_failed_refunds_sql),
            ("payments_m0030_shown_codes", PackageResources.m0030_shown_codes_sql),
            ("payments_m0031_present_buyers", PackageResources.m0031_present_buyers_sql),
            ("payments_m0032_campaign_acts", PackageResources.m0032_campaign_acts_sql),
            ("payments_m0033_renewal_tries", PackageResources.m0033_renewal_tries_sql),
            ("payments_m0034_redemption_cost", PackageResources.m0034_redemption_cost_sql),
            ("payments_m0035_transaction_pages", PackageResources.m0035_transaction_pages_sql),
            ("payments_m0036_stripe_accounts", PackageResources.m0036_stripe_accounts_sql),
            ("payments_m0037_book_gaps", PackageResources.m0037_book_gaps_sql),
            ("payments_m0038_unseen_books", PackageResources.m0038_unseen_books_sql),
        ].map { name, bytes in
            PostgresMigration(
                name: name,
                sql: String(decoding: bytes, as: UTF8.self).replacing("{role}", with: role)
            )
        }
}

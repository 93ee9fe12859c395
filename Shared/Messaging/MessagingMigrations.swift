import Foundation
public import Postgres

/// The migrations that create the messaging tables in a service's database.
public enum MessagingMigrations {
    /// The migrations, to be applied before the service's own.
    ///
    /// - Parameter role: The service's run-time role, which is granted exactly the rights that
    ///   messaging needs. It must exist, and so must `counterfoil_operator`, which may read.
    /// - Returns: The migrations, in order.
    public static func all(role: String) -> [PostgresMigration] {
        precondition(
            role.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) },
            "A service's role is named in lower-case letters and underscores."
        )
        return [
            ("messaging_m0001_spine", PackageResources.messaging_m0001_spine_sql),
            ("messaging_m0002_operator", PackageResources.messaging_m0002_operator_sql),
            (
                "messaging_m0003_outbox_by_subject",
                PackageResources.messaging_m0003_outbox_by_subject_sql
            ),
            ("messaging_m0004_seals", PackageResources.messaging_m0004_seals_sql),
            ("messaging_m0005_archives", PackageResources.messaging_m0005_archives_sql),
            ("messaging_m0006_leads", PackageResources.messaging_m0006_leads_sql),
            ("messaging_m0007_clock", PackageResources.messaging_m0007_clock_sql),
            ("messaging_m0008_acts", PackageResources.messaging_m0008_acts_sql),
            ("messaging_m0009_acts_in_order", PackageResources.messaging_m0009_acts_in_order_sql),
            (
                "messaging_m0010_dead_letter_pages",
                PackageResources.messaging_m0010_dead_letter_pages_sql
            ),
            (
                "messaging_m0011_dead_letter_counts",
                PackageResources.messaging_m0011_dead_letter_counts_sql
            ),
            (
                "messaging_m0012_subscription_texts",
                PackageResources.messaging_m0012_subscription_texts_sql
            ),
        ].map { name, bytes in
            PostgresMigration(
                name: name,
                sql: String(decoding: bytes, as: UTF8.self)
                    .replacingOccurrences(of: "SERVICE_ROLE", with: role)
            )
        }
    }
}

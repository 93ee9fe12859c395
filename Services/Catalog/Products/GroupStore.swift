import EventTypes
import Foundation
import Messaging
import Postgres

/// The tables of the names of subscription groups.
enum GroupStore {
    /// Reads the names of groups, in no particular order; those without a name are absent.
    static func groups(
        _ ids: [SubscriptionGroupID],
        on connection: isolated PostgresConnection
    ) throws -> [SubscriptionGroup] {
        try CatalogStore.documents(
            "SELECT subscription_group FROM subscription_groups WHERE id = ANY(\(ids))",
            named: "subscription group",
            on: connection
        )
    }

    /// Reads the names of all groups that have one.
    static func allGroups(
        on connection: isolated PostgresConnection
    ) throws -> [SubscriptionGroup] {
        try CatalogStore.documents(
            "SELECT subscription_group FROM subscription_groups",
            named: "subscription group",
            on: connection
        )
    }

    /// Returns those of the groups in which there is a product.
    static func groupsWithProducts(
        _ ids: [SubscriptionGroupID],
        on connection: isolated PostgresConnection
    ) throws -> Set<SubscriptionGroupID> {
        guard !ids.isEmpty else { return [] }
        return Set(
            try connection.query(
                """
                SELECT DISTINCT product #>> '{subscription,groupID}' FROM products
                WHERE product #>> '{subscription,groupID}' = ANY(\(ids))
                """
            ).map { try $0.decode(SubscriptionGroupID.self) }
        )
    }

    /// Writes groups at their new versions, each with its entry in the history, and notifies.
    ///
    /// - Precondition: The database transaction holds the writers' lock, and each version is one
    ///   above the current version.
    static func write(
        _ groups: [SubscriptionGroup],
        by administrator: String,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let ids = groups.map(\.id)
        let versions = groups.map(\.version)
        let documents = try groups.map { PostgresJSON(bytes: Array(try encoder.encode($0))) }
        let written = try connection.execute(
            """
            INSERT INTO subscription_groups
                (id, version, subscription_group, changed_by, changed_at)
            SELECT id, version, subscription_group, \(administrator), \(time)
            FROM unnest(\(ids), \(versions), \(documents))
                AS changed (id, version, subscription_group)
            ON CONFLICT (id) DO UPDATE SET
                version = EXCLUDED.version, subscription_group = EXCLUDED.subscription_group,
                changed_by = EXCLUDED.changed_by, changed_at = EXCLUDED.changed_at
            WHERE subscription_groups.version = EXCLUDED.version - 1
            """
        )
        guard written == groups.count else {
            throw CatalogError(.lostUpdate, "A group changed while it was being changed.")
        }
        try connection.execute(
            """
            INSERT INTO subscription_group_versions
                (group_id, version, subscription_group, changed_by, changed_at)
            SELECT id, version, subscription_group, \(administrator), \(time)
            FROM unnest(\(ids), \(versions), \(documents))
                AS changed (id, version, subscription_group)
            """
        )
        // An empty payload has every instance read everything again; names rarely change.
        try connection.execute("SELECT pg_notify(\(CatalogStore.channel), '')")
    }
}

import EventTypes
import Postgres

/// The tables of families and their members.
enum FamilyStore {
    /// The constraint that an account meets if it has just joined another family.
    static let memberConstraint = "an_account_is_in_one_family"

    /// Reads a family.
    static func load(
        _ id: FamilyID,
        on connection: isolated PostgresConnection
    ) throws -> Family? {
        try connection.query("SELECT data FROM families WHERE id = \(id)").first.map(family)
    }

    /// Locks and reads a family.
    static func lock(
        _ id: FamilyID,
        on connection: isolated PostgresConnection
    ) throws -> Family? {
        try connection.query("SELECT data FROM families WHERE id = \(id) FOR UPDATE").first
            .map(family)
    }

    /// Reads the families of which accounts are members.
    static func families(
        of accounts: [AccountID],
        in bundleID: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> [AccountID: Family] {
        let rows = try connection.query(
            """
            SELECT m.account_id, f.data FROM family_members m JOIN families f ON f.id = m.family_id
            WHERE m.account_id = ANY(\(accounts)) AND m.bundle_id = \(bundleID)
            """
        )
        var families: [AccountID: Family] = [:]
        for row in rows {
            let (account, data) = try row.decode(AccountID.self, PostgresJSON.self)
            families[account] = try data.decode(Family.self)
        }
        return families
    }

    /// Finds those of some accounts of whom nothing is known in an app but what families share with them.
    static func strangers(
        among accounts: [AccountID],
        in bundleID: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> [AccountID] {
        // `LIMIT` keeps it from becoming a join, which may read all transactions.
        try connection.query(
            """
            SELECT asked.account_id FROM unnest(\(accounts)) AS asked (account_id)
            LEFT JOIN LATERAL (
                SELECT t.id FROM transactions t
                WHERE t.account_id = asked.account_id AND t.bundle_id = \(bundleID)
                    AND t.reason <> 'familyShared'
                LIMIT 1
            ) AS bought ON true
            LEFT JOIN accounts a ON a.account_id = asked.account_id AND a.bundle_id = \(bundleID)
            WHERE bought.id IS NULL AND a.account_id IS NULL
            ORDER BY asked.account_id
            """
        ).map { try $0.decode(AccountID.self) }
    }

    /// Reads the accounts in a family as its members are stored.
    static func accounts(
        of id: FamilyID,
        on connection: isolated PostgresConnection
    ) throws -> [AccountKey] {
        try connection.query(
            "SELECT account_id, bundle_id FROM family_members WHERE family_id = \(id)"
        ).map { row in
            let (account, bundle) = try row.decode(AccountID.self, BundleID.self)
            return AccountKey(accountID: account, bundleID: bundle)
        }
    }

    /// Reads a page of families, the oldest first: all, or those of one app.
    static func page(
        in bundleID: BundleID?,
        after id: FamilyID?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Family] {
        try connection.query(
            """
            SELECT data FROM families
            WHERE id > \(id?.rawValue ?? "")
                AND (\(bundleID as BundleID?) IS NULL OR bundle_id = \(bundleID as BundleID?))
            ORDER BY id LIMIT \(Int64(limit))
            """
        ).map(family)
    }

    /// Writes a family that is new or locked, and its members.
    ///
    /// - Throws: `PostgresError` with ``memberConstraint`` if a member has just joined another
    ///   family.
    static func save(_ family: Family, on connection: isolated PostgresConnection) throws {
        try connection.enqueue(
            """
            INSERT INTO families AS f (id, bundle_id, version, data)
            VALUES (\(family.id), \(family.bundleID), \(Int32(family.version)),
                \(try PostgresJSON(encoding: family)))
            ON CONFLICT (id) DO UPDATE SET version = excluded.version, data = excluded.data
            """
        )
        try connection.enqueue("DELETE FROM family_members WHERE family_id = \(family.id)")
        // Everybody writes accounts in the same order, so that two families cannot deadlock.
        let members = family.members.sorted { $0.accountID < $1.accountID }
        try connection.execute(
            """
            INSERT INTO family_members (account_id, bundle_id, family_id, is_sharing)
            SELECT account_id, \(family.bundleID), \(family.id), is_sharing
            FROM unnest(\(members.map(\.accountID)), \(members.map(\.isSharing)))
                AS member (account_id, is_sharing)
            """
        )
    }

    private static func family(in row: PostgresRow) throws -> Family {
        try row.decode(PostgresJSON.self).decode(Family.self)
    }
}

import EventTypes
import Foundation
import Postgres
import StoreAPI

/// The table of what tests have the sandbox do with accounts.
enum TestSettingsStore {
    /// The settings of accounts; accounts that nobody tests are absent.
    static func settings(
        of keys: Set<AccountKey>
    ) -> PostgresReading<[AccountKey: TestSettingsDocument]> {
        guard !keys.isEmpty else { return PostgresReading(known: [:]) }
        let keys = Array(keys)
        return PostgresReading(
            """
            SELECT account_id, bundle_id, settings
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS asked (account_id, bundle_id)
            JOIN test_settings USING (account_id, bundle_id)
            """
        ) { rows in
            var settings: [AccountKey: TestSettingsDocument] = [:]
            for row in rows {
                let (account, bundle, json) = try row.decode(
                    AccountID.self,
                    BundleID.self,
                    PostgresJSON.self
                )
                settings[AccountKey(accountID: account, bundleID: bundle)] =
                    try JSONDecoder().decode(TestSettingsDocument.self, from: Data(json.bytes))
            }
            return settings
        }
    }

    /// Writes the settings of accounts.
    static func save(
        _ settings: [AccountKey: TestSettingsDocument],
        on connection: isolated PostgresConnection
    ) throws {
        // All callers write in the same order, so they cannot deadlock.
        let ordered = settings.sorted {
            ($0.key.accountID, $0.key.bundleID) < ($1.key.accountID, $1.key.bundleID)
        }
        for (key, settings) in ordered {
            let json = PostgresJSON(bytes: [UInt8](try JSONEncoder().encode(settings)))
            try connection.execute(
                """
                INSERT INTO test_settings (account_id, bundle_id, settings)
                VALUES (\(key.accountID), \(key.bundleID), \(json))
                ON CONFLICT (account_id, bundle_id) DO UPDATE SET settings = excluded.settings
                """
            )
        }
    }
}

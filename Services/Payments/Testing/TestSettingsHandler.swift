import EventTypes
import Postgres
import StoreAPI

/// Reads and replaces what tests have the sandbox do with accounts.
struct TestSettingsHandler: Sendable {
    let client: PostgresClient

    /// The settings of an account.
    func settings(of key: AccountKey) async throws -> TestSettingsDocument {
        try await client.withConnection { connection in
            try connection.read(TestSettingsStore.settings(of: [key]))[key]
        } ?? TestSettingsDocument(bundleID: key.bundleID)
    }

    /// Replaces the settings of an account.
    func set(_ settings: TestSettingsDocument, of account: AccountID) async throws {
        let key = AccountKey(accountID: account, bundleID: settings.bundleID)
        try await client.withTransaction { connection in
            try TestSettingsStore.save([key: settings], on: connection)
        }
    }
}

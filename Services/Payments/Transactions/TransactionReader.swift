import EventTypes
import Postgres

/// Reads transactions for buyers, who see their own, and for administrators, who see all.
struct TransactionReader: Sendable {
    let client: PostgresClient

    /// A transaction at its newest version; `nil` if there is none.
    func transaction(_ id: TransactionID) async throws -> Transaction? {
        try await client.withConnection { connection in
            try TransactionStore.load([id], on: connection)[id]?.transaction
        }
    }

    /// A transaction of an account in an app; `nil` if there is none or it belongs to another
    /// account.
    func transaction(_ id: TransactionID, of key: AccountKey) async throws -> Transaction? {
        guard let transaction = try await transaction(id),
            transaction.accountID == key.accountID, transaction.bundleID == key.bundleID
        else { return nil }
        return transaction
    }
}

import EventTypes
import Postgres

/// Reads transactions for those who ask: a buyer for their own, an administrator for any.
struct TransactionReader: Sendable {
    let client: PostgresClient

    /// A transaction at its newest version; `nil` if there is none.
    func transaction(_ id: TransactionID) async throws -> Transaction? {
        try await client.withConnection { connection in
            try TransactionStore.load([id], on: connection)[id]?.transaction
        }
    }

    /// A transaction of an account in an app; `nil` also if it is another's.
    func transaction(_ id: TransactionID, of key: AccountKey) async throws -> Transaction? {
        guard let transaction = try await transaction(id),
            transaction.accountID == key.accountID, transaction.bundleID == key.bundleID
        else { return nil }
        return transaction
    }
}

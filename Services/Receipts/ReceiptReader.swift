import EventTypes
import Postgres

/// Finds receipts, each with one statement on a connection of the pool.
struct ReceiptReader: Sendable {
    let store: ReceiptStore
    let client: PostgresClient

    /// The receipt of a transaction, if it is the owner's; any, where no owner is named.
    func receipt(
        of transaction: TransactionID,
        owner: (account: AccountID, bundle: BundleID)?
    ) async throws -> String? {
        try await read { [store] connection in
            try store.receipt(of: transaction, owner: owner, on: connection)
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Value
    ) async throws -> Value {
        do {
            return try await client.withConnection(body)
        } catch let error as PostgresError where error.isRetriable {
            // "Try again" for the client, not a failure of this service.
            throw ReceiptsError(code: .databaseAway, detail: error.description)
        }
    }
}

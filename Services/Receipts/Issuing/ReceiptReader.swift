import EventTypes
import Postgres
import StoreAPI

/// Reads receipts, each with one statement on a connection of the pool.
struct ReceiptReader: Sendable {
    let store: ReceiptStore
    let client: PostgresClient

    /// Returns the receipt of a transaction if it belongs to `owner`, or to anybody if that is
    /// `nil`.
    func receipt(
        of transaction: TransactionID,
        owner: (account: AccountID, bundle: BundleID)?
    ) async throws -> ReceiptResponse? {
        try await client.withConnection { [store] connection in
            try store.receipt(of: transaction, owner: owner, on: connection)
        }
    }
}

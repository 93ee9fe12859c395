import EventTypes
import Postgres
import StoreAPI

/// Finds receipts, each with one statement on a connection of the pool.
struct ReceiptReader: Sendable {
    let store: ReceiptStore
    let client: PostgresClient

    /// The receipt of a transaction, if it is the owner's; any, where no owner is named.
    func receipt(
        of transaction: TransactionID,
        owner: (account: AccountID, bundle: BundleID)?
    ) async throws -> ReceiptResponse? {
        try await client.withConnection { [store] connection in
            try store.receipt(of: transaction, owner: owner, on: connection)
        }
    }
}

import EventTypes
import Foundation
import Messaging
import Postgres
import StoreAPI

/// The SQL of the transactions that wait for an approval, across all accounts.
///
/// It reads an index that holds no others.
struct DeferredStore: Sendable {
    /// The end of a page: the place of its last transaction in the index.
    struct Cursor: Hashable, Sendable {
        var since: StoreTime
        var transactionID: Int64
    }

    let client: PostgresClient

    /// Reads a page, the oldest first.
    ///
    /// - Parameters:
    ///   - cursor: The end of the page before; `nil` for the first page.
    ///   - limit: The most transactions of the page.
    /// - Returns: The transactions.
    /// - Throws: `PostgresError`; an error of a row that cannot be read.
    func page(after cursor: Cursor?, limit: Int) async throws -> [DeferredTransaction] {
        let since = cursor?.since ?? StoreTime(millisecondsSinceEpoch: 0)
        let after = cursor?.transactionID ?? 0
        return try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT transaction, changed_at FROM queue_transactions
                WHERE state = 'deferred' AND (changed_at, transaction_id) > (\(since), \(after))
                ORDER BY changed_at, transaction_id LIMIT \(Int64(limit))
                """
            )
            return try rows.map { row in
                let (packed, since) = try row.decode([UInt8].self, StoreTime.self)
                let snapshot = try TransactionSnapshot(packed: packed)
                let transaction = try JSONDecoder().decode(
                    Transaction.self,
                    from: Data(snapshot.bytes)
                )
                return DeferredTransaction(transaction, since: since)
            }
        }
    }
}

extension DeferredStore.Cursor {
    /// The place of a transaction.
    init(of transaction: DeferredTransaction) {
        self.init(since: transaction.since, transactionID: transaction.transactionID.number)
    }

    /// The cursor for a URL: `1795237175250.1000001`.
    var text: String { "\(since.millisecondsSinceEpoch).\(transactionID)" }

    /// Parses a cursor from ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let since = Int64(parts[0]), since >= 0,
            since <= StoreClock.last.millisecondsSinceEpoch, let id = Int64(parts[1]), id >= 0
        else { return nil }
        self.init(since: StoreTime(millisecondsSinceEpoch: since), transactionID: id)
    }
}

extension DeferredTransaction {
    /// The facts of a transaction that an approver needs.
    fileprivate init(_ transaction: Transaction, since: StoreTime) {
        self.init(
            transactionID: transaction.id,
            accountID: transaction.accountID,
            bundleID: transaction.bundleID,
            productID: transaction.productID,
            quantity: transaction.quantity,
            price: transaction.price,
            since: since
        )
    }
}

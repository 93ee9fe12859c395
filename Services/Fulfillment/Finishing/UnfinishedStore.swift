import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The SQL of unfinished transactions across all accounts, for administrators.
///
/// It reads the index of unfinished transactions in order, so finished ones cost nothing.
struct UnfinishedStore: Sendable {
    /// The unfinished transactions at one moment.
    struct Summary: Hashable, Sendable {
        /// The number of transactions that an app could finish and has not.
        var count: Int64
        /// The time of the last change of the one that has waited longest, or `nil` if there is
        /// none.
        var oldest: StoreTime?
    }

    /// The end of a page: the position of its last transaction in the index.
    struct Cursor: Hashable, Sendable {
        var queue: QueueKey
        var revision: Int64
    }

    let client: PostgresClient

    /// Counts the unfinished transactions and finds the oldest.
    func summary() async throws -> Summary {
        try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT count(*), min(changed_at) FROM queue_transactions
                WHERE finished_at IS NULL AND state IN ('purchased', 'restored', 'failed')
                """
            )
            guard let row = rows.first else { return Summary(count: 0, oldest: nil) }
            let (count, oldest) = try row.decode(Int64.self, StoreTime?.self)
            return Summary(count: count, oldest: oldest)
        }
    }

    /// Reads a page of those that have not changed since `cutoff`, ordered by account.
    func page(
        since cutoff: StoreTime,
        after cursor: Cursor?,
        limit: Int
    ) async throws -> [(transaction: UnfinishedTransaction, cursor: Cursor)] {
        let account = cursor?.queue.accountID.rawValue ?? ""
        let bundle = cursor?.queue.bundleID.rawValue ?? ""
        let revision = cursor?.revision ?? 0
        return try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT account_id, bundle_id, revision, transaction_id, state, is_delivered,
                    changed_at
                FROM queue_transactions
                WHERE finished_at IS NULL AND state IN ('purchased', 'restored', 'failed')
                    AND changed_at <= \(cutoff)
                    AND (account_id, bundle_id, revision) > (\(account), \(bundle), \(revision))
                ORDER BY account_id, bundle_id, revision LIMIT \(limit)
                """
            )
            return try rows.map { row in
                let (accountID, bundleID, revision, number, state, isDelivered, changedAt) =
                    try row.decode(
                        AccountID.self,
                        BundleID.self,
                        Int64.self,
                        Int64.self,
                        String.self,
                        Bool.self,
                        StoreTime.self
                    )
                return (
                    UnfinishedTransaction(
                        transactionID: TransactionID(number: number),
                        accountID: accountID,
                        bundleID: bundleID,
                        state: TransactionState(rawValue: state),
                        isDelivered: isDelivered,
                        changedAt: changedAt
                    ),
                    Cursor(
                        queue: QueueKey(accountID: accountID, bundleID: bundleID),
                        revision: revision
                    )
                )
            }
        }
    }
}

extension UnfinishedStore.Cursor {
    /// The cursor in hexadecimal for a URL, because an account's id may contain `&` and `=`.
    var text: String {
        let parts = "\(revision)\n\(queue.bundleID)\n\(queue.accountID)"
        return parts.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Parses a cursor from ``text``.
    init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), digits.count <= 2048 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<(index + 2)], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let revision = Int64(parts[0]),
            let bundleID = BundleID(rawValue: String(parts[1])),
            let accountID = AccountID(rawValue: String(parts[2]))
        else { return nil }
        self.init(queue: QueueKey(accountID: accountID, bundleID: bundleID), revision: revision)
    }
}

import EventTypes
import Postgres

/// The SQL of receipts whose periods an upgrade has ended.
enum UpgradedPeriodStore {
    /// A receipt to sign again.
    struct Known: Sendable {
        var id: TransactionID
        var originalID: TransactionID
        var payload: [UInt8]
    }

    /// Returns those of some transactions whose period an upgrade has ended.
    static func upgraded(_ ids: [TransactionID]) -> PostgresReading<Set<TransactionID>> {
        guard !ids.isEmpty else { return PostgresReading(known: []) }
        return PostgresReading(
            """
            SELECT transaction_id FROM signed_transactions
            WHERE transaction_id = ANY(\(ids.map(\.number))) AND is_upgraded
            """
        ) { rows in
            Set(try rows.map { TransactionID(number: try $0.decode(Int64.self)) })
        }
    }

    /// Returns what is signed of transactions, in their order.
    ///
    /// - Throws: `PostgresError`; ``ReceiptsError`` if one has no receipt.
    static func payloads(
        of ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [Known] {
        let known = try connection.query(
            """
            SELECT transaction_id, original_transaction_id, payload FROM signed_transactions
            WHERE transaction_id = ANY(\(ids.map(\.number))) ORDER BY transaction_id
            """
        ).map { row in
            let (number, original, payload) = try row.decode(Int64.self, Int64.self, [UInt8].self)
            return Known(
                id: TransactionID(number: number),
                originalID: TransactionID(number: original),
                payload: try PackedPayload.unpacked(payload)
            )
        }
        guard known.count == ids.count else {
            throw ReceiptsError(
                code: .receiptMissing,
                detail: "One of the upgraded transactions \(ids) has no receipt."
            )
        }
        return known
    }

    /// Records that an upgrade has ended the periods of transactions.
    static func mark(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE signed_transactions SET is_upgraded = true
            WHERE transaction_id = ANY(\(ids.map(\.number)))
            """
        )
    }
}

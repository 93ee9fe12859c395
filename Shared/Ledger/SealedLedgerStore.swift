import Postgres
public import Seals

extension SealedLog {
    /// The ledger as a sealed log: each posting with its entries is one row.
    ///
    /// The ledger is in the database of `payments`, and ``LogSealer`` seals it.
    public static let ledger = SealedLog(name: "ledger") { place, limit, connection in
        try SealedLedgerStore.rows(after: place, limit: limit, on: connection)
    }
}

/// The SQL that reads the ledger in order to seal it or to check its seals.
enum SealedLedgerStore {
    /// The settled postings after a place with their entries, in commit order.
    static func rows(
        after place: LogPlace,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [SealedRow] {
        let rows = try connection.query(
            """
            SELECT xid, position, id, transaction_id, kind, number, posted_at, currency, accounts,
                amounts
            FROM ledger_postings
            WHERE (xid, position) > (\(place.xid), \(place.position))
                AND xid < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY xid, position LIMIT \(Int64(limit))
            """
        )
        var content = DigestWriter()
        return try rows.map { row in
            var columns = try row.columns(10)
            let xid = try columns.next(UInt64.self)
            let position = try columns.next(Int64.self)
            let id = try columns.next(SIMD16<UInt8>.self)
            let transaction = try columns.next(Int64.self)
            let kind = try columns.next(String.self)
            let number = try columns.next(Int32.self)
            let time = try columns.next(PostgresTimestamp.self)
            let currency = try columns.next(String.self)
            let accounts = try columns.next([String].self)
            let amounts = try columns.next([Int64].self)
            content.clear()
            content.write(xid)
            content.write(position)
            content.write(id)
            content.write(transaction)
            content.write(kind)
            content.write(number)
            content.write(time.microsecondsSinceEpoch)
            content.write(currency)
            content.write(UInt64(accounts.count))
            for account in accounts { content.write(account) }
            content.write(UInt64(amounts.count))
            for amount in amounts { content.write(amount) }
            return SealedRow(
                place: LogPlace(xid: xid, position: position),
                microsecondsSinceEpoch: time.microsecondsSinceEpoch,
                content: content,
                kind: "\(kind) posting",
                subject: transaction == 0 ? "number \(number)" : "transaction \(transaction)"
            )
        }
    }
}

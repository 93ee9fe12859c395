import Postgres
public import Seals

extension SealedLog {
    /// The ledger as a sealed log: each posting with its entries is one row.
    ///
    /// The ledger is in the database of `payments`, and ``LogSealer`` seals it.
    public static let ledger = SealedLog(name: "ledger") { cursor, limit, connection in
        try SealedLedgerStore.rows(after: cursor, limit: limit, on: connection)
    }
}

/// The SQL that reads the ledger in order to seal it or to check its seals.
enum SealedLedgerStore {
    /// The settled postings after a place with their entries, in commit order.
    static func rows(
        after cursor: OutboxCursor,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [SealedRow] {
        let rows = try connection.query(
            """
            SELECT posting.xid, posting.position, posting.id, posting.transaction_id, posting.kind,
                posting.posted_at, entry.entry_number, entry.account, entry.amount, entry.currency
            FROM (
                SELECT xid, position, id, transaction_id, kind, posted_at FROM ledger_postings
                WHERE (xid, position) > (\(cursor.xid), \(cursor.position))
                    AND xid < pg_snapshot_xmin(pg_current_snapshot())
                ORDER BY xid, position LIMIT \(Int64(limit))
            ) AS posting
            LEFT JOIN LATERAL (
                SELECT * FROM ledger_entries WHERE posting_id = posting.id
            ) AS entry ON true
            ORDER BY posting.xid, posting.position, entry.entry_number
            """
        )
        var sealed: [SealedRow] = []
        var open: OpenPosting?
        for row in rows {
            let (
                xid, position, id, transaction, kind, time, number, account, amount, currency
            ) = try row.decode(
                UInt64.self,
                Int64.self,
                SIMD16<UInt8>.self,
                Int64.self,
                String.self,
                PostgresTimestamp.self,
                Int32?.self,
                String?.self,
                Int64?.self,
                String?.self
            )
            let place = OutboxCursor(xid: xid, position: position)
            if open?.place != place {
                if let open { sealed.append(open.row) }
                open = OpenPosting(
                    place: place,
                    id: id,
                    transaction: transaction,
                    kind: kind,
                    microseconds: time.microsecondsSinceEpoch
                )
            }
            if let number, let account, let amount, let currency {
                open?.add(number, account, amount, currency)
            }
        }
        if let open { sealed.append(open.row) }
        return sealed
    }

    /// A posting whose entries are being read.
    private struct OpenPosting {
        let place: OutboxCursor
        private let transaction: Int64
        private let kind: String
        private let microseconds: Int64
        private var content = DigestWriter()

        init(
            place: OutboxCursor,
            id: SIMD16<UInt8>,
            transaction: Int64,
            kind: String,
            microseconds: Int64
        ) {
            self.place = place
            self.transaction = transaction
            self.kind = kind
            self.microseconds = microseconds
            content.write(place.xid)
            content.write(place.position)
            content.write(id)
            content.write(transaction)
            content.write(kind)
            content.write(microseconds)
        }

        mutating func add(_ number: Int32, _ account: String, _ amount: Int64, _ currency: String) {
            content.write(number)
            content.write(account)
            content.write(amount)
            content.write(currency)
        }

        var row: SealedRow {
            SealedRow(
                cursor: place,
                microsecondsSinceEpoch: microseconds,
                content: content,
                kind: "\(kind) posting",
                subject: "transaction \(transaction)"
            )
        }
    }
}

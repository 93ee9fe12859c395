import EventTypes
import Postgres

/// The SQL that sums up a transaction's entries in the ledger.
enum LedgerSumStore {
    /// Reads the sum of the entries of each account, in minor units.
    static func sums(
        of id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [String: Int64] {
        let number = id.number
        let rows = try connection.query(
            """
            SELECT account, sum(amount)::bigint FROM ledger_entries
            WHERE transaction_id = \(number) GROUP BY account
            """
        ).map { row in try row.decode(String.self, Int64.self) }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}

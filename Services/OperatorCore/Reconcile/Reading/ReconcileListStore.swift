import EventTypes
import Messaging
import Postgres

/// The SQL of `reconcile` that reads the processor's list as a whole.
enum ReconcileListStore {
    /// A charge that belongs to no payment of the store.
    struct UnknownCharge: Sendable {
        /// The processor's own name of it.
        let reference: String
        let amount: Money
        let time: StoreTime
    }

    /// The charges on the processor's list that belong to no payment of the store.
    static func unknownCharges(
        from begin: StoreTime,
        until end: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [UnknownCharge] {
        // This joins all attempts with all charges, instead of reading by key.
        try connection.execute("SET LOCAL enable_seqscan = on")
        try connection.execute("SET LOCAL enable_hashjoin = on")
        return try connection.query(
            """
            SELECT charge.reference, charge.amount, charge.currency, charge.created_at
            FROM processor_charges charge
            LEFT JOIN processor_attempts attempt ON attempt.attempt_id = charge.attempt_id
            WHERE attempt.attempt_id IS NULL
                AND charge.created_at >= \(begin) AND charge.created_at < \(end)
            LIMIT \(Int64(limit))
            """
        ).map { row in
            let (reference, amount, currency, time) = try row.decode(
                String.self,
                Int64.self,
                Currency.self,
                StoreTime.self
            )
            return UnknownCharge(
                reference: reference,
                amount: Money(minorUnits: amount, currency: currency),
                time: time
            )
        }
    }

    /// The time until which the processor's list was read, and the database's present time; `nil` if
    /// the list is the sandbox's own, which is always whole.
    static func readUntil(
        on connection: isolated PostgresConnection
    ) throws -> (end: MachineTime, now: MachineTime)? {
        try connection.query("SELECT read_until, now() FROM processor_movement_places")
            .first.map { row in
                let (end, now) = try row.decode(MachineTime.self, MachineTime.self)
                return (end, now)
            }
    }

    /// The time at which the processor has told its balance last; `nil` if it never did.
    static func balanceTold(on connection: isolated PostgresConnection) throws -> MachineTime? {
        let rows = try connection.query("SELECT max(read_at) FROM processor_balances")
        guard let row = rows.first else { return nil }
        return try row.decode(MachineTime?.self)
    }

    /// The balance in a currency as the processor told it, and as the ledger has it.
    struct Balance: Sendable {
        let told: Money
        let posted: Money
        /// The time at which the processor said it.
        let time: MachineTime?
    }

    /// The balances that differ; none if the processor was never asked.
    ///
    /// The ledger's is summed up to the newest movement that the processor's contains. What was there
    /// before the store's first sale counts on both sides.
    static func differingBalances(
        on connection: isolated PostgresConnection
    ) throws -> [Balance] {
        try connection.query(
            """
            WITH posted AS (
                SELECT entry.currency, sum(entry.amount)::bigint AS amount
                FROM ledger_entries entry
                WHERE entry.transaction_id = 0 AND entry.kind = 'processor_movement'
                    AND entry.account = 'processor_balance'
                    AND entry.number <= (SELECT max(movement_number) FROM processor_balances)
                GROUP BY entry.currency
            ), both_sides AS (
                SELECT currency, coalesce(told.amount, 0) AS told,
                    coalesce(told.opening, 0) + coalesce(posted.amount, 0) AS posted, told.read_at
                FROM processor_balances told FULL JOIN posted USING (currency)
            )
            SELECT currency, told, posted, read_at FROM both_sides
            WHERE told <> posted ORDER BY currency
            """
        ).map { row in
            let (currency, told, posted, time) = try row.decode(
                Currency.self,
                Int64.self,
                Int64.self,
                MachineTime?.self
            )
            return Balance(
                told: Money(minorUnits: told, currency: currency),
                posted: Money(minorUnits: posted, currency: currency),
                time: time
            )
        }
    }

    /// The movements of money that are not in the ledger.
    static func unposted(
        from begin: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(id: String, detail: String)] {
        try connection.query(
            """
            SELECT movement.movement_id, movement.kind || ', ' || movement.amount || ' ' ||
                upper(movement.currency) || ' in the processor''s unit'
            FROM processor_movements movement
            LEFT JOIN ledger_postings posting ON posting.transaction_id = 0
                AND posting.kind = 'processor_movement' AND posting.number = movement.number
            WHERE posting.number IS NULL AND (movement.amount <> 0 OR movement.fee <> 0)
                AND movement.moved_at >= \(begin)
            ORDER BY movement.number LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, detail) = try row.decode(String.self, String.self)
            return (id, detail)
        }
    }
}

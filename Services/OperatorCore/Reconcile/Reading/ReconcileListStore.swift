import EventTypes
import Messaging
import Postgres

/// The SQL of `reconcile` that reads the processor's list as a whole.
enum ReconcileListStore {
    /// The words that name an account at the processor; none for the one that every store has.
    static func words(for account: String) -> String {
        account == "default" ? "" : ", account \(account)"
    }

    /// A charge that belongs to no payment of the store.
    struct UnknownCharge: Sendable {
        /// The processor's own name of it.
        let reference: String
        let amount: Money
        let time: StoreTime
        /// The account at the processor.
        let account: String
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
            SELECT charge.reference, charge.amount, charge.currency, charge.created_at,
                charge.processor_account
            FROM processor_charges charge
            LEFT JOIN processor_attempts attempt ON attempt.attempt_id = charge.attempt_id
            WHERE attempt.attempt_id IS NULL
                AND charge.created_at >= \(begin) AND charge.created_at < \(end)
            LIMIT \(Int64(limit))
            """
        ).map { row in
            let (reference, amount, currency, time, account) = try row.decode(
                String.self,
                Int64.self,
                Currency.self,
                StoreTime.self,
                String.self
            )
            return UnknownCharge(
                reference: reference,
                amount: Money(minorUnits: amount, currency: currency),
                time: time,
                account: account
            )
        }
    }

    /// The time until which the processor's lists were read, the account whose list is the farthest
    /// behind, and the database's present time; `nil` if the list is the sandbox's own, which is always
    /// whole.
    static func readUntil(
        on connection: isolated PostgresConnection
    ) throws -> (end: MachineTime, now: MachineTime, account: String)? {
        try connection.query(
            """
            SELECT read_until, now(), processor_account FROM processor_movement_places
            ORDER BY read_until, processor_account LIMIT 1
            """
        ).first.map { row in
            let (end, now, account) = try row.decode(
                MachineTime.self,
                MachineTime.self,
                String.self
            )
            return (end, now, account)
        }
    }

    /// The account at the processor whose balance was told the longest ago, and the time; the time is
    /// `nil` if it was never told.
    static func balanceTold(
        on connection: isolated PostgresConnection
    ) throws -> (account: String, time: MachineTime?)? {
        try connection.query(
            """
            SELECT processor_account, max(balance.read_at) AS told
            FROM processor_movement_places
            LEFT JOIN processor_balances balance USING (processor_account)
            GROUP BY processor_account ORDER BY told NULLS FIRST, processor_account LIMIT 1
            """
        ).first.map { row in
            let (account, time) = try row.decode(String.self, MachineTime?.self)
            return (account, time)
        }
    }

    /// The balance of an account in a currency as the processor told it, and as the ledger has it.
    struct Balance: Sendable {
        let account: String
        let told: Money
        let posted: Money
        /// The time at which the processor said it.
        let time: MachineTime?
    }

    /// The balances that differ; none of an account that was never asked.
    ///
    /// The ledger's is summed up to the newest movement that the processor's contains. What was there
    /// before the first movement of the account's list counts on both sides. A posting without a
    /// movement counts for the account that every store has.
    static func differingBalances(
        on connection: isolated PostgresConnection
    ) throws -> [Balance] {
        try connection.query(
            """
            WITH known AS (
                SELECT processor_account, max(movement_number) AS number
                FROM processor_balances GROUP BY processor_account
            ), posted AS (
                SELECT known.processor_account, entry.currency, sum(entry.amount)::bigint AS amount
                FROM ledger_entries entry
                LEFT JOIN processor_movements movement ON movement.number = entry.number
                JOIN known
                    ON known.processor_account = coalesce(movement.processor_account, 'default')
                WHERE entry.transaction_id = 0 AND entry.kind = 'processor_movement'
                    AND entry.account = 'processor_balance' AND entry.number <= known.number
                GROUP BY known.processor_account, entry.currency
            ), both_sides AS (
                SELECT processor_account, currency, coalesce(told.amount, 0) AS told,
                    coalesce(told.opening, 0) + coalesce(posted.amount, 0) AS posted, told.read_at
                FROM processor_balances told FULL JOIN posted USING (processor_account, currency)
            )
            SELECT processor_account, currency, told, posted, read_at FROM both_sides
            WHERE told <> posted ORDER BY processor_account, currency
            """
        ).map { row in
            let (account, currency, told, posted, time) = try row.decode(
                String.self,
                Currency.self,
                Int64.self,
                Int64.self,
                MachineTime?.self
            )
            return Balance(
                account: account,
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
                upper(movement.currency) || ' in the processor''s unit',
                movement.processor_account
            FROM processor_movements movement
            LEFT JOIN ledger_postings posting ON posting.transaction_id = 0
                AND posting.kind = 'processor_movement' AND posting.number = movement.number
            WHERE posting.number IS NULL AND (movement.amount <> 0 OR movement.fee <> 0)
                AND movement.moved_at >= \(begin)
            ORDER BY movement.number LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, detail, account) = try row.decode(String.self, String.self, String.self)
            return (id, detail + words(for: account))
        }
    }
}

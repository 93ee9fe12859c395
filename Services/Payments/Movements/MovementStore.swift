import EventTypes
import Messaging
import Postgres
import Stripe

/// The tables of what moved at the processor.
enum MovementStore {
    /// Writes movements; those that were read before stay as they are.
    ///
    /// - Parameters:
    ///   - movements: The movements.
    ///   - account: The account at the processor.
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The numbers of the new ones, by their ids.
    /// - Throws: `PostgresError`.
    static func insert(
        _ movements: [ProcessorMovement],
        of account: ProcessorAccountName,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> [String: Int] {
        guard !movements.isEmpty else { return [:] }
        // Each row that is tried uses a number up, so those that are known are not tried.
        let rows = try connection.query(
            """
            INSERT INTO processor_movements (
                processor_account, movement_id, kind, source, payment, attempt_id, amount, fee, currency,
                asked_amount, asked_currency, moved_at, read_at)
            SELECT \(account.rawValue), listed.*, \(time) FROM unnest(
                \(movements.map(\.id)), \(movements.map(\.kind)), \(movements.map(\.source)),
                \(movements.map(\.payment)), \(movements.map { $0.attemptID?.bytes }),
                \(movements.map(\.amount.wire)), \(movements.map(\.fee.wire)),
                \(movements.map(\.amount.currency)), \(movements.map { $0.asked?.minorUnits }),
                \(movements.map { $0.asked?.currency.rawValue }), \(movements.map(\.movedAt)))
                AS listed (movement_id)
            WHERE NOT EXISTS (
                SELECT FROM processor_movements known
                WHERE known.movement_id = listed.movement_id)
            ON CONFLICT (movement_id) DO NOTHING
            RETURNING movement_id, number
            """
        )
        var numbers: [String: Int] = [:]
        for row in rows {
            let (id, number) = try row.decode(String.self, Int32.self)
            numbers[id] = Int(number)
        }
        return numbers
    }

    /// The number of the newest movement of all accounts; 0 if there is none.
    static func newestNumber(on connection: isolated PostgresConnection) throws -> Int {
        let rows = try connection.query("SELECT max(number) FROM processor_movements")
        guard let row = rows.first, let number = try row.decode(Int32?.self) else { return 0 }
        return Int(number)
    }

    /// Whether movements of an account were stored, none of them after the one of a number.
    static func areKnown(
        _ ids: [String],
        of account: ProcessorAccountName,
        upTo number: Int,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let rows = try connection.query(
            """
            SELECT count(*) FROM processor_movements
            WHERE movement_id = ANY(\(ids)) AND number <= \(Int32(number))
                AND processor_account = \(account.rawValue)
            """
        )
        guard let row = rows.first else { return false }
        return try row.decode(Int64.self) == Int64(ids.count)
    }

    /// Writes the balances of an account at the processor.
    ///
    /// The first time, the part that no movement explains was there before the account's list begins. A
    /// currency that the processor does not name, or no more, has a balance of zero.
    ///
    /// - Parameters:
    ///   - balances: The balances, one for each currency.
    ///   - account: The account.
    ///   - number: The number of the newest movement that they contain.
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func save(
        _ balances: [Money],
        of account: ProcessorAccountName,
        upTo number: Int,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        let (currencies, amounts) = (balances.map(\.currency), balances.map(\.minorUnits))
        try connection.execute(
            """
            WITH posted AS (
                SELECT entry.currency, sum(entry.amount)::bigint AS amount
                FROM ledger_entries entry
                JOIN processor_movements movement ON movement.number = entry.number
                WHERE movement.processor_account = \(account.rawValue)
                    AND movement.number <= \(Int32(number))
                    AND entry.transaction_id = 0 AND entry.kind = 'processor_movement'
                    AND entry.account = 'processor_balance'
                    -- Only the first time; later it would be read for nothing.
                    AND NOT EXISTS (
                        SELECT FROM processor_balances
                        WHERE processor_account = \(account.rawValue))
                GROUP BY entry.currency
            ), told AS (
                SELECT currency, amount
                FROM unnest(\(currencies), \(amounts)) AS named (currency, amount)
            )
            INSERT INTO processor_balances (
                processor_account, currency, amount, opening, movement_number, read_at)
            SELECT \(account.rawValue), currency, coalesce(told.amount, 0),
                CASE WHEN EXISTS (
                        SELECT FROM processor_balances
                        WHERE processor_account = \(account.rawValue)) THEN 0
                    ELSE coalesce(told.amount, 0) - coalesce(posted.amount, 0) END,
                \(Int32(number)), \(time)
            FROM told FULL JOIN posted USING (currency)
            ON CONFLICT (processor_account, currency) DO NOTHING
            """
        )
        try connection.execute(
            """
            UPDATE processor_balances balance SET
                amount = coalesce((
                    SELECT told.amount
                    FROM unnest(\(currencies), \(amounts)) AS told (currency, amount)
                    WHERE told.currency = balance.currency), 0),
                movement_number = \(Int32(number)), read_at = \(time)
            WHERE balance.processor_account = \(account.rawValue)
            """
        )
    }

    /// The time of the store's first transaction, by the store's clock; `nil` if there is none.
    static func firstSale(on connection: isolated PostgresConnection) throws -> StoreTime? {
        try connection.query("SELECT requested_at FROM transactions ORDER BY id LIMIT 1")
            .first.map { try $0.decode(StoreTime.self) }
    }
}

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
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The numbers of the new ones, by their ids.
    /// - Throws: `PostgresError`.
    static func insert(
        _ movements: [ProcessorMovement],
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> [String: Int] {
        guard !movements.isEmpty else { return [:] }
        // Each row that is tried uses a number up, so those that are known are not tried.
        let rows = try connection.query(
            """
            INSERT INTO processor_movements (
                movement_id, kind, source, payment, attempt_id, amount, fee, currency,
                asked_amount, asked_currency, moved_at, read_at)
            SELECT listed.*, \(time) FROM unnest(
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

    /// The number of the newest movement; 0 if there is none.
    static func newestNumber(on connection: isolated PostgresConnection) throws -> Int {
        let rows = try connection.query("SELECT max(number) FROM processor_movements")
        guard let row = rows.first, let number = try row.decode(Int32?.self) else { return 0 }
        return Int(number)
    }

    /// Whether movements were stored, none of them after the one of a number.
    static func areKnown(
        _ ids: [String],
        upTo number: Int,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let rows = try connection.query(
            """
            SELECT count(*) FROM processor_movements
            WHERE movement_id = ANY(\(ids)) AND number <= \(Int32(number))
            """
        )
        guard let row = rows.first else { return false }
        return try row.decode(Int64.self) == Int64(ids.count)
    }

    /// Writes the balances at the processor.
    ///
    /// The first time, the part that no movement explains was there before the store's first sale. A
    /// currency that the processor does not name, or no more, has a balance of zero.
    ///
    /// - Parameters:
    ///   - balances: The balances, one for each currency.
    ///   - number: The number of the newest movement that they contain.
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func save(
        _ balances: [Money],
        upTo number: Int,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        let (currencies, amounts) = (balances.map(\.currency), balances.map(\.minorUnits))
        try connection.execute(
            """
            INSERT INTO processor_balances (currency, amount, opening, movement_number, read_at)
            SELECT told.currency, told.amount,
                CASE WHEN EXISTS (SELECT FROM processor_balances) THEN 0
                    ELSE told.amount - coalesce((
                        SELECT sum(entry.amount)::bigint FROM ledger_entries entry
                        WHERE entry.transaction_id = 0 AND entry.kind = 'processor_movement'
                            AND entry.account = 'processor_balance'
                            AND entry.currency = told.currency
                            AND entry.number <= \(Int32(number))), 0) END,
                \(Int32(number)), \(time)
            FROM (
                SELECT named.currency, named.amount
                FROM unnest(\(currencies), \(amounts)) AS named (currency, amount)
                UNION ALL
                SELECT DISTINCT entry.currency, 0::bigint FROM ledger_entries entry
                WHERE NOT EXISTS (SELECT FROM processor_balances)
                    AND entry.transaction_id = 0 AND entry.kind = 'processor_movement'
                    AND entry.account = 'processor_balance'
                    AND entry.number <= \(Int32(number))
                    AND entry.currency <> ALL(\(currencies))
            ) AS told
            WHERE NOT EXISTS (
                SELECT FROM processor_balances known WHERE known.currency = told.currency)
            ON CONFLICT (currency) DO NOTHING
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
            """
        )
    }

    /// The time of the store's first transaction, by the store's clock; `nil` if there is none.
    static func firstSale(on connection: isolated PostgresConnection) throws -> StoreTime? {
        try connection.query("SELECT requested_at FROM transactions ORDER BY id LIMIT 1")
            .first.map { try $0.decode(StoreTime.self) }
    }
}

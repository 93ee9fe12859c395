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

    /// The time of the store's first transaction, by the store's clock; `nil` if there is none.
    static func firstSale(on connection: isolated PostgresConnection) throws -> StoreTime? {
        try connection.query("SELECT requested_at FROM transactions ORDER BY id LIMIT 1")
            .first.map { try $0.decode(StoreTime.self) }
    }
}

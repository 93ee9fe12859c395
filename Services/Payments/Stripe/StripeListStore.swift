import EventTypes
import Messaging
import Postgres

/// The tables of the places up to which Stripe's lists are read.
enum StripeListStore: String, Sendable {
    case events = "processor_event_places"
    case movements = "processor_movement_places"

    /// Takes the place in the list of an account at Stripe, for the length of a lease.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - time: The present.
    ///   - start: The place of an account that has none yet.
    ///   - leaseEnd: The end of the lease.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The time from which to read on; `nil` if it is not due.
    /// - Throws: `PostgresError`.
    func takePlace(
        of account: ProcessorAccountName,
        at time: MachineTime,
        from start: MachineTime,
        until leaseEnd: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> MachineTime? {
        try connection.execute(
            """
            INSERT INTO \(unsafe: rawValue) (processor_account, read_until, due_at)
            VALUES (\(account.rawValue), \(start), \(time))
            ON CONFLICT (processor_account) DO NOTHING
            """
        )
        return try connection.query(
            """
            UPDATE \(unsafe: rawValue) SET due_at = \(leaseEnd)
            WHERE processor_account = \(account.rawValue) AND due_at <= \(time)
            RETURNING read_until
            """
        ).first.map { try $0.decode(MachineTime.self) }
    }

    /// Reads the accounts at Stripe whose lists were ever read.
    func accounts(on connection: isolated PostgresConnection) throws -> [ProcessorAccountName] {
        try connection.query("SELECT processor_account FROM \(unsafe: rawValue)")
            .map { ProcessorAccountName(rawValue: try $0.decode(String.self)) }
    }

    /// Moves the place of an account on.
    func movePlace(
        of account: ProcessorAccountName,
        to place: MachineTime,
        dueAt due: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE \(unsafe: rawValue)
            SET read_until = greatest(read_until, \(place)), due_at = \(due)
            WHERE processor_account = \(account.rawValue)
            """
        )
    }
}

import EventTypes
import Postgres

/// The table `followed_clock`: the newest change of the store's clock that this service has read.
enum FollowedClockStore {
    /// Reads the change; `nil` if nobody has set the clock.
    static func load(on connection: isolated PostgresConnection) throws -> ClockChanged? {
        let rows = try connection.query("SELECT step, clock FROM followed_clock")
        guard let row = rows.first else { return nil }
        let (step, json) = try row.decode(Int64.self, PostgresJSON.self)
        let clock = try json.decode(StoreClock.self)
        return ClockChanged(step: step, clock: clock)
    }

    /// Writes a change, unless another instance of the service has written a newer one.
    static func save(
        _ change: ClockChanged,
        on connection: isolated PostgresConnection
    ) throws {
        let clock = try PostgresJSON(encoding: change.clock)
        try connection.execute(
            """
            INSERT INTO followed_clock AS f (step, clock) VALUES (\(change.step), \(clock))
            ON CONFLICT (id) DO UPDATE SET step = excluded.step, clock = excluded.clock
            WHERE f.step < excluded.step
            """
        )
    }
}

package import EventTypes
import Foundation
package import Postgres

/// The SQL that reads the store's clock.
package enum StoreClockStore {
    /// Whether the store's clock was ever set.
    package static func isSet(on connection: isolated PostgresConnection) throws -> Bool {
        try connection.query("SELECT step > 0 FROM store_clock").first?.decode(Bool.self) ?? false
    }

    /// The store's time, by the clock in the database of `payments` and by that machine's clock.
    package static func now(on connection: isolated PostgresConnection) throws -> StoreTime {
        let rows = try connection.query(
            "SELECT step, clock, latest, clock_timestamp() FROM store_clock"
        )
        guard let row = rows.first else {
            throw OperatorError(.failed, "The database of payments has no clock.")
        }
        let (step, clock, latest, machineTime) = try row.decode(
            Int64.self,
            PostgresJSON.self,
            StoreTime?.self,
            MachineTime.self
        )
        var followed = FollowedClock(
            try JSONDecoder().decode(StoreClock.self, from: Data(clock.bytes)),
            step: step,
            latest: latest
        )
        return followed.now(at: machineTime)
    }
}

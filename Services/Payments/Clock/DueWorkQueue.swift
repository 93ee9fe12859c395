import EventTypes
import Postgres

/// Work of `payments` that falls due by the store's clock, such as the end of approvals.
///
/// An advance of the clock stops at each time at which some work falls due, and goes on once it is
/// done.
struct DueWorkQueue: Sendable {
    /// The name of the work, for people.
    let name: String
    /// The time at which the oldest open piece falls due; `nil` if there is none.
    let next: @Sendable (isolated PostgresConnection) throws -> StoreTime?
    /// The number of open pieces that are due at a time; `nil` if the part that does the work reports
    /// what it has done (``ClockStore/addToAdvance(_:on:)``).
    let count: (@Sendable (StoreTime, isolated PostgresConnection) throws -> Int64)?
    /// Wakes the part that does the work.
    let wake: @Sendable () -> Void

    /// The time at which the oldest open piece falls due; `nil` if there is none.
    ///
    /// - Throws: ``DueWorkError``, which names the work.
    func nextDue(on connection: isolated PostgresConnection) throws -> StoreTime? {
        do { return try next(connection) } catch { throw DueWorkError(work: name, cause: error) }
    }
}

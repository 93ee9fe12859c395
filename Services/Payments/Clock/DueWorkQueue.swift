import EventTypes
import Postgres

/// Work of `payments` that falls due by the store's clock, such as the end of approvals.
///
/// An advance of the clock stops at each time at which some work falls due, and goes on once it is
/// done.
struct DueWorkQueue: Sendable {
    /// The name of the work, for people.
    let name: String
    /// The times at which the oldest open pieces fall due, by the names of their kinds.
    ///
    /// One statement reads the kinds that may turn into each other. With two statements, a piece that
    /// changes its kind between them could be in neither, and the clock would pass over it.
    let next: @Sendable (isolated PostgresConnection) throws -> [String: StoreTime]
    /// The number of open pieces that are due at a time; `nil` if the part that does the work reports
    /// what it has done (``ClockStore/addToAdvance(_:on:)``).
    let count: (@Sendable (StoreTime, isolated PostgresConnection) throws -> Int64)?
    /// Wakes the part that does the work.
    let wake: @Sendable () -> Void

    /// The times at which the oldest open pieces fall due, by the names of their kinds.
    ///
    /// - Throws: ``DueWorkError``, which names the work.
    func nextDue(on connection: isolated PostgresConnection) throws -> [String: StoreTime] {
        do { return try next(connection) } catch { throw DueWorkError(work: name, cause: error) }
    }
}

extension DueWorkQueue {
    /// Makes a queue of one kind of work, with the time at which its oldest open piece falls due.
    init(
        name: String,
        oldest: @escaping @Sendable (isolated PostgresConnection) throws -> StoreTime?,
        count: @escaping @Sendable (StoreTime, isolated PostgresConnection) throws -> Int64,
        wake: @escaping @Sendable () -> Void
    ) {
        self.init(
            name: name,
            next: { connection in try oldest(connection).map { [name: $0] } ?? [:] },
            count: count,
            wake: wake
        )
    }
}

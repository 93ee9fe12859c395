import EventTypes
import Postgres

/// Limits the log of notifications.
///
/// It records how far the log has come, and deletes notifications that are older than the retention
/// time, confirmed or given up. A pending one stays, no matter what the store's clock says, until
/// it has been due for the retention time by the machines' clock: its app has no endpoint any more.
struct NotificationLogHandler: Sendable {
    /// The number of notifications deleted in one database transaction.
    private static let batch = 1000

    let client: PostgresClient
    /// The time for which a notification stays in the log.
    let retention: Duration
    let now: @Sendable () -> StoreTime
    let machineNow: @Sendable () -> MachineTime

    /// Records a mark and deletes expired notifications.
    ///
    /// - Returns: The number of deleted notifications.
    @discardableResult
    func keep() async throws -> Int {
        let moment = try await client.withTransaction { [retention, now] connection in
            let now = now()
            let moment = now.advanced(by: .zero - retention)
            try NotificationLogStore.mark(at: now, on: connection)
            try NotificationLogStore.deleteMarks(before: moment, on: connection)
            return moment
        }
        let dueBefore = machineNow().advanced(by: .zero - retention)
        var count = 0
        while !Task.isCancelled {
            let deleted = try await client.withTransaction { connection in
                try NotificationLogStore.delete(
                    signedBefore: moment,
                    dueBefore: dueBefore,
                    limit: Self.batch,
                    on: connection
                )
            }
            count += deleted
            if deleted < Self.batch { break }
        }
        return count
    }
}

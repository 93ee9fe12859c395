import EventTypes
import Postgres

/// Keeps the log of notifications in bounds: marks how far it has come, and deletes what is older than
/// it is kept, whether it was confirmed or not.
struct NotificationLogHandler: Sendable {
    /// How many are deleted in one database transaction.
    private static let batch = 1000

    let client: PostgresClient
    /// How long a notification is kept.
    let retention: Duration
    let now: @Sendable () -> Timestamp

    /// Marks, and deletes what is due.
    ///
    /// - Returns: How many notifications were deleted.
    @discardableResult
    func keep() async throws -> Int {
        let moment = try await client.withTransaction { [retention, now] connection in
            let now = now()
            let moment = now.advanced(by: .zero - retention)
            try NotificationLogStore.mark(at: now, on: connection)
            try NotificationLogStore.deleteMarks(before: moment, on: connection)
            return moment
        }
        var count = 0
        while !Task.isCancelled {
            let deleted = try await client.withTransaction { connection in
                try NotificationLogStore.delete(
                    before: moment,
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

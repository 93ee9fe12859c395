import EventTypes
import Messaging
import Postgres

/// Reads services' logs page by page, and what consumers have done.
enum ReplayReader {
    /// How many rows are in memory at once.
    static let pageSize = 1000

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - address: The service's database.
    ///   - start: The place before the first row.
    ///   - end: The last place; `nil` for the end of the log.
    ///   - body: Gets each page, in the order of the log; none is empty.
    /// - Returns: The last place that was read; the start if there was nothing.
    /// - Throws: ``OperatorError``; what the body throws.
    @discardableResult
    static func read(
        _ address: DatabaseAddress,
        after start: OutboxCursor,
        through end: OutboxCursor?,
        _ body: ([OutboxRow]) async throws -> Void
    ) async throws -> OutboxCursor {
        var cursor = start
        try await DatabaseReader.withSession(address) { connection in
            while end.map({ cursor < $0 }) ?? true {
                let place = cursor
                let page = try await connection.run { connection in
                    try EventLog.rows(after: place, limit: pageSize, on: connection)
                }
                let rows = page.filter { row in end.map { row.cursor <= $0 } ?? true }
                guard let last = rows.last else { return }
                cursor = last.cursor
                try await body(rows)
            }
        }
        return cursor
    }

    /// Which log of the broker a service writes into.
    static func epoch(_ address: DatabaseAddress) async throws -> Int32 {
        do {
            return try await DatabaseReader.read(address) { try EventReplay.epoch(on: $0) }
        } catch let error as MessagingError {
            throw OperatorError(.failed, "\(address.service.rawValue): \(error.message)")
        }
    }

    /// How many of some events a consumer has not done.
    static func owed(
        _ events: [EventID],
        by consumer: String,
        at address: DatabaseAddress
    ) async throws -> Int {
        let done = try await DatabaseReader.read(address) { connection in
            try EventLog.done(events, by: consumer, on: connection)
        }
        return Set(events).subtracting(done).count
    }
}

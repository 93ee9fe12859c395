package import EventArchive
package import EventTypes
package import Messaging
package import Postgres
package import Seals

/// Reads services' logs page by page, and counts what consumers have not applied.
package enum ReplayReader {
    /// The number of rows in memory at once.
    package static let pageSize = 1000

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - address: The service's database.
    ///   - start: The place before the first row.
    ///   - end: The last place; `nil` for the end of the log.
    ///   - archives: The files of the months that have left the database.
    ///   - body: Gets each page, in the order of the log; none is empty.
    /// - Returns: The last place that was read; the start if there was nothing.
    /// - Throws: ``OperatorError``; what the body throws.
    @discardableResult
    package static func read(
        _ address: DatabaseAddress,
        after start: LogPlace,
        through end: LogPlace?,
        archives: ReplayArchives = ReplayArchives(),
        _ body: ([OutboxRow]) async throws -> Void
    ) async throws -> LogPlace {
        var reached = start
        try await DatabaseReader.withSession(address) { connection in
            let (dropped, archived) = try await connection.run { connection in
                (
                    try LogArchiveStore.dropped(on: connection),
                    try archives.rows(of: address.service.rawValue, after: start, on: connection)
                )
            }
            while end.map({ reached < $0 }) ?? true {
                let place = reached
                let page = try await connection.run { connection in
                    let rows = try EventLog.rows(
                        after: place,
                        limit: pageSize,
                        archives: archived,
                        on: connection
                    )
                    try LogArchiveStore.requireNoOthers(than: dropped, on: connection)
                    return rows
                }
                let rows = page.filter { row in end.map { row.place <= $0 } ?? true }
                guard let last = rows.last else { return }
                reached = last.place
                try await body(rows)
            }
        }
        return reached
    }

    /// The epoch of the broker's log that a service publishes to.
    package static func epoch(_ address: DatabaseAddress) async throws -> Int32 {
        do {
            return try await DatabaseReader.read(address) { try EventReplay.epoch(on: $0) }
        } catch let error as MessagingError {
            throw OperatorError(.failed, "\(address.service.rawValue): \(error.message)")
        }
    }

    /// The number of events that a consumer has not applied.
    package static func unapplied(
        _ events: [AppliedEvents.Entry],
        by consumer: String,
        at address: DatabaseAddress
    ) async throws -> Int {
        let done = try await DatabaseReader.read(address) { connection in
            try AppliedEvents.among(events, by: consumer, on: connection)
        }
        return Set(events.map(\.id)).subtracting(done).count
    }
}

/// The months of the logs that a replay reads from files.
package struct ReplayArchives: Sendable {
    /// The folder of the files; `nil` if none is given.
    package var directory: String?
    /// The first moment to replay; `nil` for everything.
    package var since: StoreTime?

    package init(directory: String? = nil, since: StoreTime? = nil) {
        self.directory = directory
        self.since = since
    }

    /// The rows of a service that are in files.
    ///
    /// - Returns: `nil` if the replay needs none of them.
    /// - Throws: `ArchiveError` if a file is needed and missing: nothing is left out silently.
    package func rows(
        of service: String,
        after place: LogPlace,
        on connection: isolated PostgresConnection
    ) throws -> ArchivedRows? {
        let needed = try LogArchiveStore.dropped(on: connection).contains { dropped in
            dropped.last > place
                && since.map { LogMonth($0) <= dropped.month } ?? true
        }
        return needed
            ? try ArchivedRows.find(in: directory, of: service, on: connection) : nil
    }
}

import EventArchive
import Ledger
import Messaging
import Postgres
package import Seals

/// Reads and checks the seals of a service's logs, in a snapshot of its database.
package enum SealReader {
    /// Checks a service.
    ///
    /// - Parameters:
    ///   - address: Its database.
    ///   - expectations: Digests that its hash chains must pass through.
    ///   - eventsOnly: Whether its event log is enough.
    ///   - archives: The folder of the months that have left the database; `nil` if they are not to be
    ///     looked at.
    /// - Returns: The hash chains, and what is wrong with them.
    /// - Throws: ``OperatorError``.
    package static func check(
        _ address: DatabaseAddress,
        expecting expectations: [SealCheck.Expectation],
        eventsOnly: Bool = false,
        archives: String? = nil
    ) async throws -> SealReport {
        try await read(address) { connection in
            try LogArchiveStore.holdMonths(on: connection)
            let archived = try archives.flatMap {
                try ArchivedRows.find(in: $0, of: address.service.rawValue, on: connection)
            }
            var logs = [SealedLog.outbox(archives: archived)]
            if address.service == .payments, !eventsOnly { logs.append(.ledger) }
            return try SealCheck(logs: logs, expectations: expectations).run(on: connection)
        }
    }

    /// Reads the newest seal of each month of a service's logs, and checks nothing.
    ///
    /// - Parameter address: The database of the service.
    /// - Returns: The seals, by log and month.
    /// - Throws: ``OperatorError``.
    package static func heads(_ address: DatabaseAddress) async throws -> [SealHead] {
        try await read(address) { connection in
            var logs = [SealedLog.outboxName]
            if address.service == .payments { logs.append(SealedLog.ledger.name) }
            var heads: [SealHead] = []
            for log in logs {
                let newest = try SealStore.heads(of: log, on: connection)
                for month in newest.sealedMonths.sorted() {
                    guard let digest = newest.digest(of: month) else { continue }
                    heads.append(
                        SealHead(
                            service: address.service,
                            log: log,
                            month: month,
                            digest: digest
                        )
                    )
                }
            }
            return heads
        }
    }

    private static func read<R: Sendable>(
        _ address: DatabaseAddress,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        do {
            return try await DatabaseReader.read(address, body)
        } catch let error as any LogFailure {
            throw OperatorError(.failed, "\(address.service.rawValue): \(error.message)")
        }
    }
}

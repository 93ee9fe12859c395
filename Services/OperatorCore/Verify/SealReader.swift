import EventArchive
import Ledger
import Messaging
import Postgres
package import Seals

/// Checks the seals of a service's logs, in a snapshot of its database.
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
        do {
            return try await DatabaseReader.read(address) { connection in
                try LogArchiveStore.holdMonths(on: connection)
                let archived = try archives.flatMap {
                    try ArchivedRows.find(in: $0, of: address.service.rawValue, on: connection)
                }
                var logs = [SealedLog.outbox(archives: archived)]
                if address.service == .payments, !eventsOnly { logs.append(.ledger) }
                return try SealCheck(logs: logs, expectations: expectations).run(on: connection)
            }
        } catch let error as any LogFailure {
            throw OperatorError(.failed, "\(address.service.rawValue): \(error.message)")
        }
    }
}

import EventTypes
import Messaging
import Postgres
public import Seals

extension SealedLog {
    /// A service's event log, including its archived months.
    ///
    /// - Parameter archives: The archived months, which are checked like the others; `nil` if there
    ///   are none, or if they are not to be checked.
    /// - Returns: The log.
    public static func outbox(archives: ArchivedRows?) -> SealedLog {
        guard let archives else { return .outbox }
        return outbox(includesArchives: true) { place, limit, connection in
            let stored = try EventLog.exactRows(after: place, limit: limit, on: connection)
            return try archives.merged(with: stored, after: place, limit: limit, types: [])
        }
    }
}

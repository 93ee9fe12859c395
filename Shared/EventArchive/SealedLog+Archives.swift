import EventTypes
import Messaging
import Postgres
public import Seals

extension SealedLog {
    /// A service's event log with the months of it that are in files.
    ///
    /// - Parameter archives: Those months; they are checked like the others. `nil` if there are none,
    ///   or if what is in files is not to be looked at.
    /// - Returns: The log.
    public static func outbox(archives: ArchivedRows?) -> SealedLog {
        guard let archives else { return .outbox }
        return outbox(includesArchives: true) { cursor, limit, connection in
            let stored = try EventLog.settledExactRows(after: cursor, limit: limit, on: connection)
            return try archives.merged(with: stored, after: cursor, limit: limit, types: [])
        }
    }
}

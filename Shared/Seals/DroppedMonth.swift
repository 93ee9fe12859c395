/// A month of a log that has left a service's database for a file.
public struct DroppedMonth: Hashable, Sendable {
    /// The month.
    public let month: LogMonth
    /// How many rows it had.
    public let rowCount: Int64
    /// The place of its last row.
    public let last: OutboxCursor
    /// The number of its newest seal at the time.
    let lastSeal: Int64
    /// The digest of that seal, which all of its rows are in.
    public let head: LogDigest
    /// What the file was called.
    public let fileName: String
}

/// A month of a log that was moved from a service's database to a file.
public struct DroppedMonth: Hashable, Sendable {
    /// The month.
    public let month: LogMonth
    /// The number of its rows.
    public let rowCount: Int64
    /// The place of its last row.
    public let last: LogPlace
    /// The number of its newest seal at that time.
    let lastSeal: Int64
    /// The digest of that seal, which covers all its rows.
    public let head: LogDigest
    /// The name of the file.
    public let fileName: String
}

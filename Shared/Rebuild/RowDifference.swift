/// A row that differs from the log.
public struct RowDifference: Hashable, Sendable, Codable {
    /// The kind of difference.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The log has the row, but the live table does not.
        case missing
        /// The live table has the row, but the log does not account for it.
        case notInTheLog = "not-in-the-log"
        /// Some columns have other values than in the log.
        case changed
    }

    /// A column and its two values, as PostgreSQL writes them; `nil` for NULL.
    public struct Column: Hashable, Sendable, Codable {
        /// The column.
        public let name: String
        /// The value in the live table.
        public let live: String?
        /// The value according to the log.
        public let log: String?
    }

    /// The row's key, its parts separated by spaces, numbers with leading zeros.
    public let key: String
    /// The kind of difference.
    public let kind: Kind
    /// The columns that differ, if the row is changed.
    public let columns: [Column]
}

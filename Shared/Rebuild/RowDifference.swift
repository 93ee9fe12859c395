/// A row that is not as the log says.
public struct RowDifference: Hashable, Sendable, Codable {
    /// What is wrong with it.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The log says that there is one; there is none.
        case missing
        /// There is one; the log does not account for it.
        case notInTheLog = "not-in-the-log"
        /// Some of its columns have other values.
        case changed
    }

    /// A column and its two values, as PostgreSQL writes them; `nil` for NULL.
    public struct Column: Hashable, Sendable, Codable {
        /// The column.
        public let name: String
        /// What the live table holds.
        public let live: String?
        /// What the log says.
        public let log: String?
    }

    /// The row's key, its parts separated by spaces, numbers with leading zeros.
    public let key: String
    /// What is wrong with it.
    public let kind: Kind
    /// The columns that differ, if it is changed.
    public let columns: [Column]
}

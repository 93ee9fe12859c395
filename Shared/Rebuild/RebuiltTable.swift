/// A table to rebuild, and how its rows are compared.
///
/// Both sides are read in the order of the key. PostgreSQL converts the rows to text, so two rows
/// are equal if their texts are.
public struct RebuiltTable: Sendable {
    /// A part of the key.
    public enum Key: Sendable {
        /// A whole number, not negative.
        case number(String)
        /// A text, compared byte by byte.
        case text(String)
        /// A UUID.
        case uuid(String)
    }

    /// A column, or the expression that is compared in its place.
    public struct Column: Sendable, ExpressibleByStringLiteral {
        /// The name of the column in a difference.
        public let name: String
        /// The SQL of the column in the live table.
        public let live: String
        /// The SQL of the column in the rebuilt table.
        public let rebuilt: String

        /// Makes a column that is compared as it is.
        public init(stringLiteral name: String) {
            self.init(name, name)
        }

        /// Makes a column that is compared by an expression.
        ///
        /// - Parameters:
        ///   - name: The name of the column in a difference.
        ///   - live: The SQL in the live table.
        ///   - rebuilt: The SQL in the rebuilt table, if it differs.
        public init(_ name: String, _ live: String, rebuilt: String? = nil) {
            self.name = name
            self.live = live
            self.rebuilt = rebuilt ?? live
        }
    }

    /// The table's name in reports.
    public let name: String
    /// The `FROM` clause: the table itself, unless a join is compared.
    public let from: String
    /// The `WHERE` clause, which selects the rows that the log accounts for.
    public let rows: String
    /// The table's key.
    public let key: [Key]
    /// The columns that are compared.
    public let columns: [Column]

    /// Describes a table.
    public init(
        _ name: String,
        from: String? = nil,
        rows: String = "true",
        key: [Key],
        columns: [Column]
    ) {
        self.name = name
        self.from = from ?? name
        self.rows = rows
        self.key = key
        self.columns = columns
    }

    /// The database that is read.
    enum Side: Sendable { case live, rebuilt }

    /// Returns the query of one side, with two columns: the key as a text that sorts like the rows,
    /// and the row as a text.
    func query(_ side: Side) -> String {
        let order = key.map { part in
            switch part {
            case .number(let column), .uuid(let column): column
            case .text(let column): "\(column) COLLATE \"C\""
            }
        }
        // A space sorts before every character that an identifier may contain.
        let text = key.map { part in
            switch part {
            case .number(let column): "lpad((\(column))::text, 20, '0')"
            case .text(let column): "(\(column))"
            case .uuid(let column): "(\(column))::text"
            }
        }
        let columns = columns.map { side == .live ? $0.live : $0.rebuilt }
        return """
            SELECT concat_ws(' ', \(text.joined(separator: ", "))),
                ROW(\(columns.joined(separator: ", ")))::text
            FROM \(from) WHERE \(rows) ORDER BY \(order.joined(separator: ", "))
            """
    }
}

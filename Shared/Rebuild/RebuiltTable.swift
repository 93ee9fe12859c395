/// A table that is made again, and how its rows compare.
///
/// Both sides are read in the order of the key and written as text by PostgreSQL itself, so two
/// rows are the same if their texts are.
public struct RebuiltTable: Sendable {
    /// A part of the key.
    public enum Key: Sendable {
        /// A whole number that is not negative.
        case number(String)
        /// A text, compared by its bytes.
        case text(String)
        /// A UUID.
        case uuid(String)
    }

    /// A column, or what stands for it in the comparison.
    public struct Column: Sendable, ExpressibleByStringLiteral {
        /// What a difference calls it.
        public let name: String
        /// The SQL of it in the live table.
        public let live: String
        /// The SQL of it in the table made again.
        public let rebuilt: String

        /// A column as it is.
        public init(stringLiteral name: String) {
            self.init(name, name)
        }

        /// A column as an expression makes it comparable.
        ///
        /// - Parameters:
        ///   - name: What a difference calls it.
        ///   - live: Its SQL in the live table.
        ///   - rebuilt: Its SQL in the table made again, if it is another.
        public init(_ name: String, _ live: String, rebuilt: String? = nil) {
            self.name = name
            self.live = live
            self.rebuilt = rebuilt ?? live
        }
    }

    /// The table's name, as it is told.
    public let name: String
    /// What stands behind FROM; the table itself unless a join is compared.
    public let from: String
    /// What stands behind WHERE: the rows that the log accounts for.
    public let rows: String
    /// Its key.
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

    /// Which of the two databases is read.
    enum Side: Sendable { case live, rebuilt }

    /// The query of one side: the key as one text that sorts as the rows do, and the row as one.
    func query(_ side: Side) -> String {
        let order = key.map { part in
            switch part {
            case .number(let column), .uuid(let column): column
            case .text(let column): "\(column) COLLATE \"C\""
            }
        }
        // A space sorts before everything that an identifier can hold.
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

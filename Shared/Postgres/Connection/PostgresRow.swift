/// The rows that a query returned.
///
/// They own the server's answer and decode it on demand.
public struct PostgresRows: RandomAccessCollection, Sendable {
    let result: PQResult

    /// The index of the first row.
    public var startIndex: Int { 0 }
    /// The index after the last row.
    public var endIndex: Int { result.rowCount }

    /// A row.
    public subscript(position: Int) -> PostgresRow {
        precondition(indices.contains(position), "There is no such row.")
        return PostgresRow(result: result, index: position)
    }
}

/// One row that a query returned.
public struct PostgresRow: Sendable {
    let result: PQResult
    let index: Int

    /// Reads all columns, in order.
    ///
    /// ```swift
    /// let (id, name) = try row.decode(Int64.self, String?.self)
    /// ```
    ///
    /// - Throws: ``PostgresError`` with the code ``PostgresError/Code/decoding``, naming the
    ///   column, if the number of columns differs, a type does not fit, or a value is NULL and its
    ///   type is not optional.
    public func decode<each C: PostgresDecodable>(
        _ columns: repeat (each C).Type
    ) throws(PostgresError) -> (repeat each C) {
        var asked = 0
        for _ in repeat each columns {
            asked += 1
        }
        try expectColumns(asked)
        var column = 0
        return (repeat try next((each C).self, &column))
    }

    /// Reads the only column: `let count = try row.decode(Int64.self)`.
    public func decode<C: PostgresDecodable>(_ column: C.Type) throws(PostgresError) -> C {
        // A pack of one is a tuple of one, which optional chaining cannot unpack.
        try expectColumns(1)
        var index = 0
        return try next(column, &index)
    }

    private func expectColumns(_ asked: Int) throws(PostgresError) {
        guard asked == result.columnCount else {
            throw PostgresError(
                .decoding,
                "\(asked) columns are asked for, the row has \(result.columnCount)"
            )
        }
    }

    private func next<C: PostgresDecodable>(
        _ type: C.Type,
        _ column: inout Int
    ) throws(PostgresError) -> C {
        defer { column += 1 }
        do {
            guard let bytes = result.bytes(row: index, column: column) else {
                return try C.decodePostgresNull()
            }
            return try C.decode(bytes, as: result.type(ofColumn: column))
        } catch {
            throw error.prefixed(with: "column \"\(result.name(ofColumn: column))\"")
        }
    }
}

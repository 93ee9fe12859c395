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

    /// Begins to read the columns one after another.
    ///
    /// ```swift
    /// var columns = try row.columns(2)
    /// let id = try columns.next(Int64.self)
    /// let name = try columns.next(String?.self)
    /// ```
    ///
    /// - Parameter count: The number of columns.
    /// - Returns: The columns, of which none is read.
    /// - Throws: ``PostgresError`` with the code ``PostgresError/Code/decoding``, if the row has another
    ///   number of columns.
    public func columns(_ count: Int) throws(PostgresError) -> PostgresColumns {
        try expectColumns(count)
        return PostgresColumns(self)
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

/// The columns of a row, read one after another.
///
/// Rows that come in large numbers are read with it: each column is then read by code for its type.
public struct PostgresColumns {
    private let row: PostgresRow
    private var position = -1

    init(_ row: PostgresRow) { self.row = row }

    /// Reads the next column.
    ///
    /// - Throws: ``PostgresError`` with the code ``PostgresError/Code/decoding``, naming the column, if
    ///   its type does not fit, or its value is NULL and the type is not optional.
    @inlinable
    public mutating func next<C: PostgresDecodable>(
        _ type: C.Type = C.self
    ) throws(PostgresError) -> C {
        do {
            guard let bytes = advance() else { return try C.decodePostgresNull() }
            return try C.decode(bytes, as: columnType)
        } catch {
            throw located(error)
        }
    }

    /// Moves to the next column, and returns its value; `nil` for NULL.
    @usableFromInline
    mutating func advance() -> UnsafeRawBufferPointer? {
        position += 1
        return row.result.bytes(row: row.index, column: position)
    }

    /// The type of the present column.
    @usableFromInline var columnType: PostgresType { row.result.type(ofColumn: position) }

    /// The error with the name of the present column.
    @usableFromInline
    func located(_ error: PostgresError) -> PostgresError {
        error.prefixed(with: "column \"\(row.result.name(ofColumn: position))\"")
    }
}

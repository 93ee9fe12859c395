extension PostgresConnection {
    /// Appends rows to a table with COPY in binary form, the fastest way to load many rows.
    ///
    /// Unlike parameters of a statement, values are not converted. The type of each must be exactly
    /// that of its column, or the server refuses all rows.
    ///
    /// - Parameters:
    ///   - table: The table, as `name` or `schema.name`.
    ///   - columns: The columns, in the order of the values of a row.
    ///   - rows: The rows; each has as many values as there are columns.
    /// - Returns: The number of rows appended: all, or none if an error is thrown.
    /// - Throws: ``PostgresError`` if the server refuses the rows or the connection is lost.
    @discardableResult
    public func copy(
        into table: String,
        columns: [String],
        rows: some Sequence<[any PostgresEncodable]>
    ) throws(PostgresError) -> Int {
        let names = columns.map { SQL.quoted($0) }.joined(separator: ", ")
        let command = "COPY \(SQL.quoted(table)) (\(names)) FROM STDIN (FORMAT binary)"
        let session = try requireSession()
        try sendQueued()
        let limits = limits()
        guard try session.simpleQuery(command, limits).isCopyIn else {
            throw PostgresError(.server, "the server does not begin COPY")
        }
        do {
            try send(rows, columnCount: columns.count, session, limits)
        } catch {
            if !session.isLost {
                // The server answers with another error, but the original one says more.
                _ = try? session.endCopy(problem: "given up", limits)
            }
            throw error
        }
        return try session.endCopy(problem: nil, limits).affectedRows
    }

    private func send(
        _ rows: some Sequence<[any PostgresEncodable]>,
        columnCount: Int,
        _ session: PQConnection,
        _ limits: PQLimits
    ) throws(PostgresError) {
        let chunkSize = 64 * 1024
        // The signature, no flags, no extension.
        var chunk: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
        chunk.appendBigEndian(Int32(0))
        chunk.appendBigEndian(Int32(0))
        for row in rows {
            guard row.count == columnCount else {
                throw PostgresError(
                    .invalidData,
                    "a row of \(row.count) values for \(columnCount) columns"
                )
            }
            chunk.appendBigEndian(Int16(columnCount))
            for value in row {
                chunk.appendField(value)
            }
            if chunk.count >= chunkSize {
                if interrupter.isRaised {
                    throw PostgresError(.cancelled, "cancelled during COPY")
                }
                try session.putCopyData(chunk, limits)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        chunk.appendBigEndian(Int16(-1))
        try session.putCopyData(chunk, limits)
    }
}

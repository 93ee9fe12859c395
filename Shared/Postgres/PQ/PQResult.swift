import CLibpq

/// The server's answer to one statement; it owns the `PGresult` and clears it at the end.
final class PQResult: Sendable {
    /// The owned result; also read by `PQError`, never outside this folder.
    nonisolated(unsafe) let handle: OpaquePointer  // libpq lets any thread read a result.
    /// The number of rows.
    let rowCount: Int
    /// The number of columns.
    let columnCount: Int

    /// Takes ownership of a result.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = Int(PQntuples(handle))
        columnCount = Int(PQnfields(handle))
    }

    deinit {
        PQclear(handle)
    }

    /// Whether the server reports an error.
    var isError: Bool {
        switch PQresultStatus(handle) {
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: true
        default: false
        }
    }

    /// Whether the server waits for the rows of a COPY.
    var isCopyIn: Bool { PQresultStatus(handle) == PGRES_COPY_IN }

    /// Whether the server is about to send the rows of a COPY.
    var isCopyOut: Bool {
        let status = PQresultStatus(handle)
        return status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH
    }

    /// Whether the server has answered all statements of a pipeline.
    var isPipelineEnd: Bool { PQresultStatus(handle) == PGRES_PIPELINE_SYNC }

    /// The command's tag as the server confirms it, such as `COMMIT` or `INSERT 0 1`.
    var commandTag: String { String(cString: PQcmdStatus(handle)) }

    /// The number of rows that the command has read or changed; 0 for other commands.
    var affectedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The type of a column.
    func type(ofColumn column: Int) -> PostgresType {
        PostgresType(oid: PQftype(handle, Int32(column)))
    }

    /// The name of a column.
    func name(ofColumn column: Int) -> String {
        PQfname(handle, Int32(column)).map { String(cString: $0) } ?? "?"
    }

    /// The binary form of a value, valid as long as this result lives; `nil` for NULL.
    func bytes(row: Int, column: Int) -> UnsafeRawBufferPointer? {
        let row = Int32(row)
        let column = Int32(column)
        let count = Int(PQgetlength(handle, row, column))
        if count == 0 && PQgetisnull(handle, row, column) == 1 {
            return nil
        }
        return UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: count)
    }
}

import CLibpq

extension PQConnection {
    /// Sends some of the rows of a COPY.
    func putCopyData(_ bytes: [UInt8], _ limits: PQLimits) throws(PostgresError) {
        let deadline = end(of: limits)
        while true {
            let sent = bytes.withUnsafeBytes { buffer in
                PQputCopyData(
                    handle,
                    buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(buffer.count)
                )
            }
            switch sent {
            case 1: return
            case 0: try makeRoom(until: deadline)
            default: throw lost()
            }
        }
    }

    /// Ends a COPY.
    ///
    /// - Parameters:
    ///   - problem: The reason to discard the rows so far; `nil` to keep them.
    ///   - limits: The longest time, and whether the wait may end early.
    /// - Returns: The server's answer to the COPY.
    /// - Throws: ``PostgresError`` if the connection is lost or too slow.
    func endCopy(problem: String?, _ limits: PQLimits) throws(PostgresError) -> PQResult {
        let deadline = end(of: limits)
        while true {
            switch PQputCopyEnd(handle, problem) {
            case 1: return try finish(1, limits)
            case 0: try makeRoom(until: deadline)
            default: throw lost()
            }
        }
    }
}

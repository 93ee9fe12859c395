/// A place in a service's outbox: rows are published in the order of the database transactions
/// that wrote them, and within one in the order they were written.
struct OutboxCursor: Hashable, Comparable, Sendable {
    /// The database transaction's id (`pg_current_xact_id`).
    let xid: UInt64
    /// The row's number.
    let position: Int64

    /// Before the first row.
    static let start = OutboxCursor(xid: 0, position: 0)

    init(xid: UInt64, position: Int64) {
        self.xid = xid
        self.position = position
    }

    /// Reads `xid:position`.
    init?(_ string: String) {
        let parts = string.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let xid = UInt64(parts[0]), let position = Int64(parts[1]) else {
            return nil
        }
        self.init(xid: xid, position: position)
    }

    static func < (left: OutboxCursor, right: OutboxCursor) -> Bool {
        (left.xid, left.position) < (right.xid, right.position)
    }
}

/// A row of the outbox.
struct OutboxRow: Sendable {
    let cursor: OutboxCursor
    let event: OutboxEvent
}

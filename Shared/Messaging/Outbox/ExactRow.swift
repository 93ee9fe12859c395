import EventTypes

/// A row of a log with the exact time in the table.
///
/// An event has whole milliseconds; a row that somebody changed by hand may not.
public struct ExactRow: Sendable {
    /// The row.
    public let row: OutboxRow
    /// The time in the table, in microseconds since 1970-01-01 00:00 UTC.
    public let microsecondsSinceEpoch: Int64

    /// Makes a row with its exact time.
    public init(row: OutboxRow, microsecondsSinceEpoch: Int64) {
        self.row = row
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
    }

    /// Makes a row as a service wrote it, with a time in whole milliseconds.
    public init(_ row: OutboxRow) {
        self.init(
            row: row,
            microsecondsSinceEpoch: row.event.time.millisecondsSinceEpoch * 1000
        )
    }
}

import EventTypes

/// A row of a log with its time as it stands there: an event has whole milliseconds, and what
/// somebody wrote into the table may not.
public struct ExactRow: Sendable {
    /// The row.
    public let row: OutboxRow
    /// Its time, since 1970-01-01 00:00 UTC.
    public let microsecondsSinceEpoch: Int64

    /// Takes a row with its exact time.
    public init(row: OutboxRow, microsecondsSinceEpoch: Int64) {
        self.row = row
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
    }

    /// Takes a row as a service wrote it.
    public init(_ row: OutboxRow) {
        self.init(
            row: row,
            microsecondsSinceEpoch: row.event.time.millisecondsSinceEpoch * 1000
        )
    }
}

import EventTypes
import StoreTracing

/// A row of a log with the exact time and trace in the table.
///
/// An event has whole milliseconds and a well-formed trace; a row that somebody changed by hand may
/// not.
public struct ExactRow: Sendable {
    /// The row.
    public let row: OutboxRow
    /// The time in the table, in microseconds since 1970-01-01 00:00 UTC.
    public let microsecondsSinceEpoch: Int64
    /// The trace in the table; its text is part of the row's seal.
    public let trace: String?

    /// Makes a row with its exact time and trace.
    public init(row: OutboxRow, microsecondsSinceEpoch: Int64, trace: String?) {
        self.row = row
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
        self.trace = trace
    }

    /// Makes a row as a service wrote it, with a time in whole milliseconds.
    public init(_ row: OutboxRow) {
        self.init(
            row: row,
            microsecondsSinceEpoch: row.event.time.millisecondsSinceEpoch * 1000,
            trace: row.event.traceparent?.description
        )
    }
}

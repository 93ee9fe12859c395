import Foundation

/// A line of JSON that `<service> rebuild` writes to standard output while it works.
public enum RebuildLine: Hashable, Sendable, Codable {
    /// The number of applied events; `total` was counted earlier and may have grown.
    case applied(events: Int, total: Int)
    /// An event that the rules do not derive from the events before it; only the first thousand are
    /// written.
    case contradiction(LogContradiction)
    /// The number of compared rows of a table.
    case comparing(table: String, rows: Int)
    /// A row that differs from the log; only the first thousand of each table are written.
    case difference(table: String, RowDifference)
    /// The result of a table that has been compared.
    case table(name: String, rows: Int, differences: Int)
    /// The final result: the number of applied events and of contradictions, the time for applying
    /// the events, and the total time.
    case done(events: Int, contradictions: Int, applyingMilliseconds: Int, milliseconds: Int)

    /// Writes a line to standard output at once.
    @Sendable
    public static func write(_ line: RebuildLine) {
        // Encoding plain numbers and strings does not fail.
        guard var bytes = try? JSONEncoder().encode(line) else { return }
        bytes.append(UInt8(ascii: "\n"))
        FileHandle.standardOutput.write(bytes)
    }
}

import Foundation

/// One line of what `<service> rebuild` tells on standard output, as JSON, while it works.
public enum RebuildLine: Hashable, Sendable, Codable {
    /// So many of the log's events are applied; `total` is a count of before, which may have grown.
    case applied(events: Int, total: Int)
    /// An event that the rules do not make of what came before it; the first thousand.
    case contradiction(LogContradiction)
    /// So many rows of a table are compared.
    case comparing(table: String, rows: Int)
    /// A row that is not as the log says; of a table, the first thousand.
    case difference(table: String, RowDifference)
    /// A table is done.
    case table(name: String, rows: Int, differences: Int)
    /// Everything is done: how many events were applied, how many of them contradict the log, how
    /// long that took, and how long all.
    case done(events: Int, contradictions: Int, applyingMilliseconds: Int, milliseconds: Int)

    /// Writes the line to standard output, at once.
    @Sendable
    public static func write(_ line: RebuildLine) {
        // Encoding a value of plain numbers and strings does not fail.
        guard var bytes = try? JSONEncoder().encode(line) else { return }
        bytes.append(UInt8(ascii: "\n"))
        FileHandle.standardOutput.write(bytes)
    }
}

import ClockAndIDs
import EventTypes
import Foundation
import Logging

/// The form of a log line.
enum LogFormat: String, CaseIterable, Sendable {
    /// For people: time, level, label, message, then `key=value` for the metadata.
    case text
    /// For programs: one JSON object a line.
    case json
}

/// Writes each log line to standard error with one call, so that lines never mix.
///
/// Messages are constant texts; variable values are in the metadata, whose keys are sorted.
struct LogOutput: LogHandler {
    /// Metadata that is logged with every line.
    var metadata: Logger.Metadata = [:]
    /// Adds metadata of the task.
    var metadataProvider: Logger.MetadataProvider?
    /// The lowest level that is logged.
    var logLevel: Logger.Level

    private let label: String
    private let format: LogFormat
    private let now: @Sendable () -> MachineTime
    private let write: @Sendable (String) -> Void

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - label: The label of the lines.
    ///   - level: The lowest level that is logged.
    ///   - format: The form of a line.
    ///   - now: The clock.
    ///   - write: Takes each line, with its newline.
    init(
        label: String,
        level: Logger.Level = .info,
        format: LogFormat = .text,
        now: @escaping @Sendable () -> MachineTime = MachineTime.now,
        // If the log cannot be written, there is no other place to report that.
        write: @escaping @Sendable (String) -> Void = { writeAll($0, to: STDERR_FILENO) }
    ) {
        self.label = label
        self.logLevel = level
        self.format = format
        self.now = now
        self.write = write
    }

    /// One of the values logged with every line.
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line.
    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        switch format {
        case .text: write(textLine(event, all))
        case .json: write(jsonLine(event, all))
        }
    }

    private func textLine(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        var line = "\(timeText()) "
        let level = event.level.rawValue
        line += level
        line += String(repeating: " ", count: max(1, 9 - level.count))
        line += "\(label): \(event.message)"
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            line += " \(key)=\(logfmt(value.description))"
        }
        line += "\n"
        return line
    }

    private func jsonLine(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        var line = #"{"time":"\#(timeText())","level":"\#(event.level.rawValue)","#
        line += #""service":\#(jsonString(label)),"message":\#(jsonString("\(event.message)"))"#
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            line += ",\(jsonString(key)):\(jsonString(value.description))"
        }
        line += "}\n"
        return line
    }

    private func timeText() -> String {
        let milliseconds = now().millisecondsSinceEpoch
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let fraction = String(milliseconds % 1000)
        let padding = String(repeating: "0", count: max(0, 3 - fraction.count))
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(padding)\(fraction)Z"
    }

    private func logfmt(_ value: String) -> String {
        let isPlain =
            !value.isEmpty
            && value.utf8.allSatisfy {
                $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
            }
        return isPlain ? value : jsonString(value)
    }
}

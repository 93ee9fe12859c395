public import Logging
import Synchronization

/// Records log messages of every level.
public final class RecordedLog: Sendable {
    private let recorded = Mutex<[(level: Logger.Level, message: String, text: String)]>([])

    /// Makes an empty log.
    public init() {}

    /// A logger that writes to this log.
    public var logger: Logger {
        Logger(label: "recorded") { _ in Handler(log: self) }
    }

    /// The levels of all messages in order.
    public var levels: [Logger.Level] { recorded.withLock { $0.map(\.level) } }

    /// Returns the messages of a level in order.
    public func messages(at level: Logger.Level) -> [String] {
        recorded.withLock { lines in lines.filter { $0.level == level }.map(\.message) }
    }

    /// Returns how many times a message was logged.
    public func count(_ message: String) -> Int {
        recorded.withLock { lines in lines.count { $0.message == message } }
    }

    /// Every message with its metadata, in order.
    public var lines: [String] { recorded.withLock { $0.map(\.text) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = metadata.merging(event.metadata ?? [:]) { _, own in own }
            let text = "\(event.message) \(details) \(event.error.map { "\($0)" } ?? "")"
            log.recorded.withLock { $0.append((event.level, "\(event.message)", text)) }
        }
    }
}

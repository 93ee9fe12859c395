public import Logging
import Synchronization

/// Remembers what is logged, at every level.
public final class RecordedLog: Sendable {
    private let recorded = Mutex<[(level: Logger.Level, message: String)]>([])

    /// A log without lines.
    public init() {}

    /// A logger that writes into it.
    public var logger: Logger {
        Logger(label: "recorded") { _ in Handler(log: self) }
    }

    /// The levels of all lines, in their order.
    public var levels: [Logger.Level] { recorded.withLock { $0.map(\.level) } }

    /// The messages of a level, in their order.
    public func messages(at level: Logger.Level) -> [String] {
        recorded.withLock { lines in lines.filter { $0.level == level }.map(\.message) }
    }

    /// How often a message was logged.
    public func count(_ message: String) -> Int {
        recorded.withLock { lines in lines.count { $0.message == message } }
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.recorded.withLock { $0.append((event.level, "\(event.message)")) }
        }
    }
}

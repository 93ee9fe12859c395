import Logging
import Synchronization

/// Records log messages of every level with all their metadata.
final class TextLog: Sendable {
    private let recorded = Mutex("")

    /// A logger that writes to this log.
    var logger: Logger { Logger(label: "recorded") { _ in Handler(log: self) } }

    /// Everything that was logged.
    var text: String { recorded.withLock { $0 } }

    private struct Handler: LogHandler {
        let log: TextLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.recorded.withLock { $0 += "\(event.message) \(event.metadata ?? [:])\n" }
        }
    }
}

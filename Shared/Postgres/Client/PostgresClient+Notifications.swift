import Synchronization

import Logging

/// What a listening connection reports.
public enum PostgresNotificationEvent: Sendable, Hashable {
    /// The connection listens from here on. What was notified before, while there was none, is
    /// missed: look into the tables.
    case listening
    /// A notification.
    case notification(channel: String, payload: String)
}

extension PostgresClient {
    /// Listens on channels, with a connection of its own that is opened again whenever it breaks.
    ///
    /// The stream yields ``PostgresNotificationEvent/listening`` after each connect, and ends only
    /// when the task that reads it is cancelled. It keeps the newest thousand events for a slow
    /// reader; notifications are for waking up, not for carrying data.
    public func notifications(on channels: [String]) -> AsyncStream<PostgresNotificationEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
            let listener = Task { [settings, logger] in
                await Listener(settings: settings, channels: channels, logger: logger)
                    .run { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in listener.cancel() }
        }
    }
}

/// Keeps one connection listening.
private struct Listener {
    let settings: PostgresSettings
    let channels: [String]
    let logger: Logger

    func run(_ report: @escaping @Sendable (PostgresNotificationEvent) -> Void) async {
        var failures = 0
        while !Task.isCancelled {
            let hasListened = Mutex(false)
            do {
                try await withSession(settings) { connection in
                    try await connection.listen(on: channels) { event in
                        hasListened.withLock { $0 = true }
                        report(event)
                    }
                }
            } catch {
                guard !Task.isCancelled else { return }
                logger.debug(
                    "Listening was interrupted; connecting again",
                    metadata: ["error": "\(error)", "channels": "\(channels)"]
                )
            }
            failures = hasListened.withLock { $0 } ? 1 : failures + 1
            let delay = Backoff().delay(afterFailures: failures, jitter: .random(in: 0...1))
            try? await Task.sleep(for: delay)  // Cancelled: the loop's condition ends it.
        }
    }
}

extension PostgresConnection {
    /// Listens until the connection breaks or is interrupted.
    fileprivate func listen(
        on channels: [String],
        _ report: (PostgresNotificationEvent) -> Void
    ) throws(PostgresError) {
        for channel in channels {
            try simple("LISTEN \"" + channel.replacing("\"", with: "\"\"") + "\"")
        }
        report(.listening)
        let session = try requireSession()
        while true {
            let received = try session.waitForNotifications(timeout: .seconds(15))
            for (channel, payload) in received {
                report(.notification(channel: channel, payload: payload))
            }
            if received.isEmpty {
                // Silence may be peace, or a server that has vanished without a word. What is asked
                // says in pg_stat_activity what the session is for, as the statement before it did.
                _ = try session.simpleQuery(
                    "SELECT 'LISTEN'",
                    PQLimits(timeout: .seconds(5), isInterruptible: true)
                )
            }
        }
    }
}

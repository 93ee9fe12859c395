import Synchronization

import Logging

/// An event of a listening connection.
public enum PostgresNotificationEvent: Sendable, Hashable {
    /// The connection now listens.
    ///
    /// Earlier notifications may have been missed, so read the tables.
    case listening
    /// A notification.
    case notification(channel: String, payload: String)
}

extension PostgresClient {
    /// Listens on channels, with a separate connection that is reopened whenever it breaks.
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
            try? await Task.sleep(for: delay)  // If cancelled, the loop ends.
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
                // Silence may mean that nothing happened or that the server is gone. The text of
                // this query shows in pg_stat_activity what the session is for, as the LISTEN
                // before it did.
                _ = try session.simpleQuery(
                    "SELECT 'LISTEN'",
                    PQLimits(timeout: .seconds(5), isInterruptible: true)
                )
            }
        }
    }
}

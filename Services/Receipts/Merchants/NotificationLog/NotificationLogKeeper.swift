import Logging
import ServiceLifecycle

/// Runs ``NotificationLogHandler`` once an hour.
///
/// Every instance does so. It does not matter if another one has done it before.
struct NotificationLogKeeper: Service {
    private static let interval = Duration.seconds(3600)

    let log: NotificationLogHandler
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    // An unavailable database may be back in a moment.
                    try await Task.sleep(for: await keep() ? Self.interval : .seconds(10))
                }
            }
        } catch is CancellationError {
            // The service shuts down. The next run deletes what is due.
        }
    }

    /// Runs once, and returns whether the usual interval may pass before the next run.
    private func keep() async -> Bool {
        do {
            let count = try await log.keep()
            if count > 0 {
                logger.info(
                    "Old notifications were deleted",
                    metadata: ["notifications.deleted": "\(count)"]
                )
            }
            return true
        } catch {
            logger.debug(
                "Old notifications could not be deleted",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }
}

import Logging
import ServiceLifecycle

/// Looks after the log of notifications once an hour.
///
/// Each instance does it; none minds that another has done it before.
struct NotificationLogKeeper: Service {
    private static let interval = Duration.seconds(3600)

    let log: NotificationLogHandler
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    // A database that is away may be back in a moment.
                    try await Task.sleep(for: await keep() ? Self.interval : .seconds(10))
                }
            }
        } catch is CancellationError {
            // The service shuts down; what is due is deleted by the next.
        }
    }

    /// The answer is whether the next time may be a long time from now.
    private func keep() async -> Bool {
        do {
            let count = try await log.keep()
            if count > 0 {
                logger.info(
                    "Notifications were deleted that are kept no longer",
                    metadata: ["notifications.deleted": "\(count)"]
                )
            }
            return true
        } catch {
            logger.debug(
                "The log of notifications is not looked after",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }
}

import Logging
import ServiceLifecycle

/// Checks at the start whether contents can be stored.
///
/// Then and at intervals it removes the remains of uploads that failed or were killed.
struct HostedContentCleaning: Service {
    let handler: HostedContentHandler
    let interval: Duration
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                await check()
                while true {
                    // An unavailable database may be back in a moment.
                    try await Task.sleep(for: await clean() ? interval : .seconds(1))
                }
            }
        } catch is CancellationError {
            // The service shuts down. The next start removes what remains.
        }
        await handler.storage.shutDown()
    }

    private func check() async {
        do {
            try await handler.storage.check()
        } catch {
            // Purchases go on without contents, and the storage may be repaired meanwhile.
            logger.error("contents cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// Cleans up once.
    ///
    /// - Returns: Whether the usual interval may pass before the next cleaning.
    private func clean() async -> Bool {
        do {
            let count = try await handler.removeLeftovers()
            if count > 0 {
                logger.notice(
                    "removed what failed uploads left",
                    metadata: ["contents": "\(count)"]
                )
            }
            return true
        } catch let error as ContentStorageError {
            // Uploads will fail for the same reason, and downloads may.
            logger.error("the storage of contents fails", metadata: ["error": "\(error)"])
            return true
        } catch {
            logger.debug("leftovers cannot be looked at yet", metadata: ["error": "\(error)"])
            return false
        }
    }
}

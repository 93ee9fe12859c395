import Logging
import ServiceLifecycle

/// Cleans up once, as soon as the database can be asked, after uploads that an earlier process was
/// killed in.
struct HostedContentCleaning: Service {
    let handler: HostedContentHandler
    let logger: Logger

    func run() async throws {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            do {
                let count = try await handler.removeLeftovers()
                if count > 0 {
                    logger.notice(
                        "removed what interrupted uploads left",
                        metadata: ["files": "\(count)"]
                    )
                }
                break
            } catch let error as ContentStorageError {
                // Uploads will fail for the same reason, and downloads may.
                logger.error("the content directory fails", metadata: ["error": "\(error)"])
                break
            } catch {
                logger.debug("leftovers cannot be looked at yet", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(1))  // Cancelled: the loop's condition ends it.
        }
        try? await gracefulShutdown()  // Cancelled: it ends all the same.
    }
}

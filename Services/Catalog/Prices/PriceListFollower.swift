import EventTypes
import Logging
import Messaging
import Postgres
import ServiceLifecycle

/// Keeps ``CurrentPriceList`` up to date.
///
/// It reads all products and names of groups whenever it begins to listen, even after a reconnection, and then those
/// that a notification names.
///
/// It waits for the migrations first.
struct PriceListFollower: Service {
    let client: PostgresClient
    let schema: PostgresSchemaGuard
    let priceList: CurrentPriceList
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !schema.isCurrent && !Task.isCancelled {
                // When cancelled, the loop's condition ends it.
                try? await Task.sleep(for: .milliseconds(20))
            }
            for await event in client.notifications(on: [CatalogStore.channel]) {
                var versions: [ProductID: Int]?
                if case .notification(_, let payload) = event {
                    versions = ProductChanges(payload: payload).versions
                }
                await persistently("read the products") {
                    // Notifications may be lost while an attempt fails, so the next one reads
                    // everything.
                    defer { versions = nil }
                    try await refresh(changed: versions)
                }
            }
        }
    }

    /// Reads the changed products; if `versions` is `nil`, all products and all names of groups.
    private func refresh(changed versions: [ProductID: Int]?) async throws {
        guard let versions, priceList.isLoaded else {
            let (products, groups) = try await client.withConnection { connection in
                (
                    try CatalogStore.allProducts(on: connection),
                    try GroupStore.allGroups(on: connection)
                )
            }
            priceList.load(products, groups: groups)
            logger.info("read all products", metadata: ["count": "\(products.count)"])
            return
        }
        let missing = priceList.missing(of: versions)
        guard !missing.isEmpty else { return }
        let products = try await client.withConnection { connection in
            try CatalogStore.products(missing, on: connection)
        }
        priceList.merge(products)
        logger.debug("read changed products", metadata: ["count": "\(products.count)"])
    }

    /// Tries until it works or the task is cancelled.
    private func persistently(_ what: String, _ work: () async throws -> Void) async {
        let retries = Retries()
        while !Task.isCancelled {
            do {
                return try await work()
            } catch is CancellationError {
                return
            } catch {
                let failures = retries.failed()
                // At start, connecting takes a moment; only repeated failures are worth a warning.
                logger.log(
                    level: failures > 3 ? .warning : .debug,
                    "cannot \(what), trying again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
            }
            // When cancelled, the loop's condition ends it.
            try? await retries.pause()
        }
    }
}

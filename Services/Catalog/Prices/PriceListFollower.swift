import EventTypes
import Logging
import Messaging
import Postgres
import ServiceLifecycle

/// Keeps ``CurrentPriceList`` up to date: reads all products whenever it begins to listen (again),
/// and then those that a notification names.
///
/// Before that it waits for the migrations.
struct PriceListFollower: Service {
    let client: PostgresClient
    let schema: PostgresSchemaGuard
    let priceList: CurrentPriceList
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !schema.isCurrent && !Task.isCancelled {
                // Cancelled: the loop's condition ends it.
                try? await Task.sleep(for: .milliseconds(20))
            }
            for await event in client.notifications(on: [CatalogStore.channel]) {
                var versions: [ProductID: Int]?
                if case .notification(_, let payload) = event {
                    versions = ProductChanges(payload: payload).versions
                }
                await persistently("read the products") {
                    // While one attempt fails, notifications may get lost: the next reads all.
                    defer { versions = nil }
                    try await refresh(changed: versions)
                }
            }
        }
    }

    /// Reads what changed; with `nil`, everything.
    private func refresh(changed versions: [ProductID: Int]?) async throws {
        guard let versions, priceList.isLoaded else {
            let products = try await client.withConnection { connection in
                try CatalogStore.allProducts(on: connection)
            }
            priceList.load(products)
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
                // Connecting takes a moment at start; what lasts is worth a warning.
                logger.log(
                    level: failures > 3 ? .warning : .debug,
                    "cannot \(what), trying again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
            }
            // Cancelled: the loop's condition ends it.
            try? await retries.pause()
        }
    }
}

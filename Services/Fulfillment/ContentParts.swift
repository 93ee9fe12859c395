import Logging
import ServiceFoundation
import ServiceKit

/// The parts of `fulfillment` that store and serve the content hosted for products.
struct ContentParts {
    private let handler: HostedContentHandler
    /// Removes bytes that no row names.
    let cleaning: HostedContentCleaning
    private let permits: DownloadPermits
    private let lengthMax: Int64
    private let logger: Logger

    init(_ settings: ContentSettings, on frame: ServiceFrame) {
        handler = HostedContentHandler(
            client: frame.client,
            storage: settings.storage(frame.machineNow, frame.logger),
            now: frame.storeNow,
            machineNow: frame.machineNow
        )
        cleaning = HostedContentCleaning(
            handler: handler,
            interval: settings.cleaningInterval,
            logger: frame.logger
        )
        permits = DownloadPermits(limits: settings.downloads)
        lengthMax = settings.lengthMax
        logger = frame.logger
    }

    /// Adds the routes about hosted contents.
    func addRoutes(to router: StoreRouter) {
        HostedContentRoutes(
            handler: handler,
            permits: permits,
            lengthMax: lengthMax,
            logger: logger
        ).add(to: router)
    }
}

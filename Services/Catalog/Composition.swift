import EventTypes
import Logging
import ServiceFoundation
import ServiceKit

extension ServiceDefinition {
    /// The definition of the service `catalog`.
    static let catalog = ServiceDefinition(
        .catalog,
        publishes: [Topics.catalogProducts],
        migrations: CatalogMigrations.all,
        // The catalog reads all products at once.
        prefersIndexes: false,
        rebuilder: CatalogRebuildHandler()
    )
}

/// Composes `catalog` from its settings.
///
/// It reads the files that the settings name, and opens no connection.
func composeCatalog(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = CatalogSettings(&reader)
    try reader.check()
    return composeCatalog(settings, on: try ServiceFrame(.catalog, settings.common, logger: logger))
}

/// Composes the parts that only the catalog has: the price list, its follower, and the changes of
/// administrators.
func composeCatalog(_ settings: CatalogSettings, on frame: ServiceFrame) -> Composition {
    let priceList = CurrentPriceList()
    let follower = PriceListFollower(
        client: frame.client,
        schema: frame.schema,
        priceList: priceList,
        logger: frame.logger
    )
    let changes = CatalogHandler(
        client: frame.client,
        priceList: priceList,
        now: frame.storeNow,
        didAppend: frame.wakeRelay
    )
    return frame.composition(
        [follower],
        readiness: [ReadinessCheck("products") { priceList.isLoaded }]
    ) { router in
        CatalogRoutes(priceList: priceList, now: frame.storeNow).add(to: router)
        AdminRoutes(
            handler: changes,
            importBytesMax: settings.importBytesMax,
            processor: settings.processor
        ).add(to: router)
    }
}

import ClockAndIDs
import EventTypes
import Logging
import OperatorCore
import ServiceKit

/// Composes the console from its settings.
///
/// It reads the administrators' keys, and opens no connection.
func composeConsole(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = ConsoleSettings(&reader)
    try reader.check()
    return try composeConsole(settings, logger)
}

/// Composes the parts of the console: who is signed in, what they look at, and the pages.
func composeConsole(
    _ settings: ConsoleSettings,
    _ logger: Logger,
    didListen: @escaping @Sendable (Int) -> Void = { _ in }
) throws -> Composition {
    // The tokens are those of the machine's clock, as at the services.
    let now: @Sendable () -> MachineTime = { .now() }
    let authenticator = try Authenticator(
        adminKeysDirectory: settings.adminKeysDirectory,
        now: now,
        logger: logger
    )
    let door = ConsoleDoor(
        authenticator: authenticator,
        visits: VisitRules(isReadOnly: settings.isReadOnly),
        now: now,
        logger: logger
    )
    let pages = consolePages(
        origin: settings.origin,
        door: door,
        urls: settings.urls,
        databases: settings.databases,
        logger: logger
    )
    // The console is ready at once: a page says what is away.
    let router = storeRouter(authenticator: authenticator, readiness: [], logger: logger)
    pages.mount(on: router)
    let server = StoreHTTPServer(
        router: router,
        settings: settings.http,
        logger: logger,
        didListen: didListen
    )
    return Composition(services: [door.sweeper, server], readiness: [])
}

/// Composes the pages around the door that knows who is signed in.
func consolePages(
    origin: ConsoleOrigin,
    door: ConsoleDoor,
    urls: [OperatedService: String],
    databases: DatabaseAddresses,
    logger: Logger
) -> ConsoleRouter {
    let desk = StoreDesk(urls: urls, databases: databases)
    let sampler = NowSampler(
        status: StatusReader(urls: urls, databases: databases),
        lag: LagReader(databases: databases),
        stories: StoryReader(databases: databases)
    )
    let acts = ActRunner(door: door)
    return ConsoleRouter(origin: origin, logger: logger) { routes in
        AssetRoutes().add(to: routes)
        SignInRoutes(door: door, origin: origin, desk: desk).add(to: routes)
        NowRoutes(door: door, sampler: sampler).add(to: routes)
        LookingRoutes(door: door, desk: desk).add(to: routes)
        ActRoutes(acts: acts, desk: desk).add(to: routes)
        SubscriptionPageRoutes(acts: acts, desk: desk).add(to: routes)
        ProductRoutes(acts: acts, desk: desk).add(to: routes)
        DeadLetterRoutes(acts: acts, desk: desk).add(to: routes)
        ClockPageRoutes(acts: acts, desk: desk).add(to: routes)
        ActListRoutes(door: door, desk: desk).add(to: routes)
    }
}

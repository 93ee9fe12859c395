import ClockAndIDs
import EventTypes
import Logging
import ServiceKit
import ServiceLifecycle

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
    let lock = try settings.stateDirectory.map { try StateLock($0) }
    let sessions = try settings.stateDirectory.map {
        SessionFolder(try StateFolder($0, "sessions"), logger: logger)
    }
    let board = try settings.stateDirectory.map {
        JobBoard(
            settings.tools,
            in: JobFolder(folder: try StateFolder($0, "jobs")),
            now: now,
            logger: logger
        )
    }
    let door = ConsoleDoor(
        authenticator: authenticator,
        visits: VisitRules(isReadOnly: settings.isReadOnly),
        now: now,
        logger: logger,
        sessions: SessionTable(in: sessions)
    )
    let pages = consolePages(
        origin: settings.origin,
        door: door,
        urls: settings.urls,
        databases: settings.databases,
        deciding: settings.deciding,
        board: board,
        refunds: try settings.stateDirectory.map { try StateFolder($0, "refunds") },
        logger: logger
    )
    // The console is ready at once: a page says what is away.
    let router = storeRouter(
        authenticator: authenticator,
        readiness: [],
        // Also the answers around the pages: health, metrics, and what no route answers.
        answerHeaders: PageHeaders.all(isSecure: settings.origin.isSecure),
        logger: logger
    )
    pages.mount(on: router)
    let server = StoreHTTPServer(
        router: router,
        settings: settings.http,
        logger: logger,
        didListen: didListen
    )
    var jobs: [any Service] = []
    if let board, let lock { jobs.append(JobService(board: board, lock: lock)) }
    return Composition(services: [door.sweeper] + jobs + [server], readiness: [])
}

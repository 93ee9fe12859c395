import EventTypes
import Logging
import ServiceLifecycle

/// Looks once a second for all work that no signal announces, and wakes those who do it.
///
/// One statement takes the place of one for each kind of work. Every instance looks. Whoever is woken
/// looks for the work itself, and skips what another instance has taken.
struct WorkLook: Service {
    /// The pause between two looks, and so the longest time that work waits if somebody has time for it.
    static let interval = Duration.seconds(1)
    /// The pause after which those who do the work look themselves, in case these looks fail.
    static let patience = Duration.seconds(30)

    private let store: WorkLookStore
    private let now: @Sendable () -> StoreTime
    private let machineNow: @Sendable () -> MachineTime
    private let logger: Logger
    private let wake: @Sendable (WorkLookStore.Kind) -> Void

    /// Makes a look, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - store: Looks into the database.
    ///   - now: The store's clock, by which subscriptions fall due.
    ///   - machineNow: The machines' clock, by which attempts fall due.
    ///   - logger: Receives messages for debugging.
    ///   - wake: Wakes those who do a kind of work.
    init(
        store: WorkLookStore,
        now: @escaping @Sendable () -> StoreTime,
        machineNow: @escaping @Sendable () -> MachineTime,
        logger: Logger,
        wake: @escaping @Sendable (WorkLookStore.Kind) -> Void
    ) {
        self.store = store
        self.now = now
        self.machineNow = machineNow
        self.logger = logger
        self.wake = wake
    }

    /// Looks until graceful shutdown.
    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown {
            try await self.store.waitForSchema()
            while true {
                await self.look()
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Looks once.
    func look() async {
        do {
            let kinds = try await store.kinds(at: now(), machinesAt: machineNow())
            for kind in kinds { wake(kind) }
        } catch {
            // Those who do the work look themselves, too, and say what is wrong.
            logger.debug("Work could not be looked for", metadata: ["error": "\(error)"])
        }
    }
}

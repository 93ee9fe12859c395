import EventTypes
import Logging
import ServiceKit
import ServiceLifecycle

/// Looks once a second for all work that no signal announces, and wakes those who do it.
///
/// One statement takes the place of one for each kind of work. Every instance looks. Whoever is woken
/// looks for the work itself, and skips what another instance has taken.
///
/// If one of the tables cannot be read, there is one statement for each kind of work, so the others go on.
struct WorkLook: Service {
    /// The pause between two looks, and so the longest time that work waits if somebody has time for it.
    static let interval = Duration.seconds(1)
    /// The pause after which those who do the work look themselves, in case these looks fail.
    static let patience = Duration.seconds(30)

    private let store: WorkLookStore
    private let now: @Sendable () -> StoreTime
    private let machineNow: @Sendable () -> MachineTime
    private let logger: Logger
    private let broken: OccasionalWarning
    private let wake: @Sendable (WorkLookStore.Kind) -> Void

    /// Makes a look, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - store: Looks into the database.
    ///   - now: The store's clock, by which subscriptions fall due.
    ///   - machineNow: The machines' clock, by which attempts fall due.
    ///   - logger: Receives warnings.
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
        broken = OccasionalWarning(
            "A table of work cannot be read; that work begins late, and all other work goes on",
            counting: "looks",
            every: .seconds(60),
            logger: logger
        )
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
        let (time, machineTime) = (now(), machineNow())
        do {
            let kinds = try await store.kinds(at: time, machinesAt: machineTime)
            for kind in kinds { wake(kind) }
        } catch let error where WorkLookStore.isOfTable(error) {
            await lookOneByOne(at: time, machinesAt: machineTime)
            broken.warn(of: error, count: 1)
        } catch {
            // Those who do the work look themselves, too, and say what is wrong.
            logger.debug("Work could not be looked for", metadata: ["error": "\(error)"])
        }
    }

    /// Looks for each kind of work by itself, except for what cannot be read.
    private func lookOneByOne(at time: StoreTime, machinesAt machineTime: MachineTime) async {
        for kind in WorkLookStore.Kind.allCases {
            // The warning names the error, and who does such work looks again after a while.
            let isThere = try? await store.has(kind, at: time, machinesAt: machineTime)
            if isThere == true { wake(kind) }
        }
    }
}

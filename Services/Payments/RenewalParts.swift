import EventTypes
import Logging
import ServiceFoundation
import ServiceKit

/// The parts of `payments` that renew subscriptions, and that let accounts decide about them.
struct RenewalParts {
    /// Carries out what is due.
    let runner: WorkRunner
    /// Measures subscriptions.
    let watch: SubscriptionWatch
    /// Tells subscribers of higher prices.
    let enrolments: WorkRunner
    /// Extends all subscribers of a product.
    let extensions: WorkRunner
    /// Their work, for an advance of the store's clock.
    let works: [DueWorkQueue]
    /// The HTTP routes for subscriptions.
    private let routes: SubscriptionRoutes
    private let massRoutes: MassExtensionRoutes
    /// The routes of merchants' servers; a store without their keys has none.
    private let serverRoutes: ServerExtensionRoutes?
    /// The routes of tests; only the sandbox's own processor has them.
    private let testRoutes: TestRoutes?

    init(
        _ settings: PaymentsSettings,
        _ charging: ChargingParts,
        products: ProductStore,
        on frame: ServiceFrame
    ) throws {
        let servers = try settings.servers.map {
            try ServerAPIAuthenticator($0, now: frame.machineNow, logger: frame.logger)
        }
        let renewals = charging.renewals
        let paced = PacedRenewals(handler: renewals, load: charging.runner.renewals)
        let runner = WorkRunner(
            client: frame.client,
            rest: WorkLook.patience,
            complaint: "Due actions of subscriptions were not carried out; trying again",
            logger: frame.logger
        ) {
            try await paced.carryOutAll()
        }
        self.runner = runner
        watch = SubscriptionWatch(
            store: SubscriptionCountStore(client: frame.client),
            now: frame.storeNow,
            logger: frame.logger
        )
        let subscriptions = SubscriptionHandler(
            context: charging.context,
            products: products,
            mayPay: { [processor = charging.processor] method, account, connection in
                guard processor.lane(of: method) != nil else { return false }
                return try !processor.hasSavedMethods
                    || PaymentMethodStore.paysForSubscriptions(
                        method,
                        of: account,
                        at: processor.account(of: account.bundleID),
                        on: connection
                    )
            },
            renewals: renewals,
            endCharges: { [runner = charging.runner] in await runner.end($0) },
            didCommit: frame.wakeRelay
        )
        routes = SubscriptionRoutes(subscriptions: subscriptions)
        let masses = MassExtensionHandler(
            context: charging.context,
            products: products,
            didCommit: frame.wakeRelay,
            pages: PacedPages(isBusy: { [load = charging.runner.renewals] in load.isBusy })
        )
        extensions = Self.extensions(masses, on: frame)
        massRoutes = MassExtensionRoutes(masses: masses)
        serverRoutes = servers.map {
            ServerExtensionRoutes(
                authenticator: $0,
                subscriptions: subscriptions,
                masses: masses,
                transactions: TransactionReader(client: frame.client)
            )
        }
        testRoutes =
            settings.environment == .sandbox && settings.stripe == nil
            ? TestRoutes(
                settings: TestSettingsHandler(client: frame.client),
                subscriptions: subscriptions,
                disputes: charging.sandboxDisputes
            ) : nil
        let enrolments = Self.enrolments(charging, on: frame)
        self.enrolments = enrolments
        works = Self.works(runner, enrolments)
    }

    /// Notes that the store is seen, and notices that its database was restored.
    static func gaps(on frame: ServiceFrame) -> WorkRunner {
        let handler = BookGapHandler(
            client: frame.client,
            machineNow: frame.machineNow,
            now: frame.storeNow,
            logger: frame.logger
        )
        return WorkRunner(
            client: frame.client,
            rest: BookGapHandler.pause,
            complaint: "The time at which the store was seen could not be noted; it is noted again",
            logger: frame.logger
        ) {
            try await handler.note()
        }
    }

    /// Extends the subscriptions of all subscribers for whom an administrator has asked.
    private static func extensions(
        _ masses: MassExtensionHandler,
        on frame: ServiceFrame
    ) -> WorkRunner {
        WorkRunner(
            client: frame.client,
            rest: WorkLook.patience,
            complaint: "The extensions of all subscribers could not be read; they are read again",
            logger: frame.logger
        ) {
            try await masses.workOnAll()
        }
    }

    /// Tells subscribers of the higher prices that the catalog has scheduled.
    private static func enrolments(_ charging: ChargingParts, on frame: ServiceFrame) -> WorkRunner
    {
        let raises = PriceEnrolmentHandler(
            context: charging.context,
            didCommit: frame.wakeRelay,
            pages: PacedPages(isBusy: { [load = charging.runner.renewals] in load.isBusy })
        )
        return WorkRunner(
            client: frame.client,
            rest: WorkLook.patience,
            complaint: "The scheduled raises could not be read; they are read again",
            logger: frame.logger
        ) {
            try await raises.tellAll()
        }
    }

    /// The work that an advance of the store's clock waits for.
    private static func works(
        _ runner: WorkRunner,
        _ enrolments: WorkRunner
    ) -> [DueWorkQueue] {
        [
            DueWorkQueue(
                name: "subscriptions",
                next: { connection in
                    let due = try DueSubscriptionStore.next(on: connection)
                    return Dictionary(
                        uniqueKeysWithValues: due.map { ($0.key.rawValue, $0.value) }
                    )
                },
                count: nil,
                wake: { runner.wake() }
            ),
            DueWorkQueue(
                name: "scheduled raises",
                oldest: { try PriceEnrolmentStore.oldest(on: $0) },
                count: { try PriceEnrolmentStore.count(begunBy: $0, on: $1) },
                wake: { enrolments.wake() }
            ),
        ]
    }

    /// Adds the routes that this store has.
    func addRoutes(to router: StoreRouter) {
        routes.add(to: router)
        massRoutes.add(to: router)
        serverRoutes?.add(to: router)
        testRoutes?.add(to: router)
    }
}

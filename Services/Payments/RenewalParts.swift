import ServiceFoundation

/// The parts of `payments` that renew subscriptions, and that let accounts decide about them.
struct RenewalParts {
    /// Carries out what is due.
    let runner: RenewalRunner
    /// Measures subscriptions.
    let watch: SubscriptionWatch
    /// The kinds of its work, for an advance of the store's clock.
    let works: [DueWorkQueue]
    /// The HTTP routes for subscriptions.
    let routes: SubscriptionRoutes

    init(
        _ settings: PaymentsSettings,
        _ charging: ChargingParts,
        products: ProductStore,
        on frame: ServiceFrame
    ) {
        let renewals = RenewalHandler(
            context: charging.context,
            products: products,
            tax: settings.tax,
            didCommit: charging.didCommit
        )
        let runner = RenewalRunner(handler: renewals, logger: frame.logger)
        self.runner = runner
        watch = SubscriptionWatch(
            store: SubscriptionCountStore(client: frame.client),
            now: frame.storeNow,
            logger: frame.logger
        )
        routes = SubscriptionRoutes(
            subscriptions: SubscriptionHandler(
                context: charging.context,
                products: products,
                renewals: renewals,
                didCommit: frame.wakeRelay
            )
        )
        works = DueWork.allCases.map { work in
            DueWorkQueue(
                name: work.rawValue,
                next: { try SubscriptionStore.nextDue(work, on: $0) },
                count: nil,
                wake: { runner.wake() }
            )
        }
    }
}

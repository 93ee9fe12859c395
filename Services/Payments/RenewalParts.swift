import ServiceFoundation

/// The parts of `payments` that renew subscriptions, and that let accounts decide about them.
struct RenewalParts {
    /// Carries out what is due.
    let runner: RenewalRunner
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
        let runner = RenewalRunner(
            handler: RenewalHandler(
                context: charging.context,
                products: products,
                tax: settings.tax,
                didCommit: charging.didCommit
            ),
            logger: frame.logger
        )
        self.runner = runner
        routes = SubscriptionRoutes(
            subscriptions: SubscriptionHandler(
                context: charging.context,
                products: products,
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

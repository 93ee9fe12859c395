import ServiceFoundation

/// The parts of `payments` that renew subscriptions.
struct RenewalParts {
    /// Carries out what is due.
    let runner: RenewalRunner
    /// The kinds of its work, for an advance of the store's clock.
    let works: [DueWorkQueue]

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

import EventTypes
import Ledger
import Logging
import Messaging
import ServiceFoundation
import ServiceKit

extension ServiceDefinition {
    /// The definition of the service `payments`.
    static let payments = ServiceDefinition(
        .payments,
        publishes: [Topics.paymentsTransactions, Topics.paymentsPurchasing],
        migrations: PaymentsMigrations.all,
        rebuilder: PaymentsRebuildHandler()
    )
}

/// Composes `payments` from its settings.
///
/// It reads the files that the settings name, and opens no connection.
func composePayments(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = PaymentsSettings(&reader)
    try reader.check()
    return composePayments(
        settings,
        on: try ServiceFrame(.payments, settings.common, logger: logger)
    )
}

/// Composes the parts that only `payments` has: for accepting, charging and settling payments, and
/// for restores, refunds and resumptions.
private func composePayments(_ settings: PaymentsSettings, on frame: ServiceFrame) -> Composition {
    let charging = ChargingParts(settings, on: frame)
    let (context, runner) = (charging.context, charging.runner)
    let wakeRelay = frame.wakeRelay
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void = { attempts in
        runner.offer(attempts)
        wakeRelay()
    }
    let products = ProductStore()
    let payments = PaymentHandler(
        context: context,
        processor: charging.processor,
        products: products,
        tax: settings.tax,
        didCommit: didCommit
    )
    let batcher = RequestBatcher(
        name: "payments",
        waitMax: settings.common.databaseWaitMax,
        logger: frame.logger,
        perform: payments.accept
    )
    let consumer = frame.consumer(
        of: [Topics.catalogProducts, Topics.fulfillmentTransactions],
        handler: ProjectionHandler()
    )
    let sealer = LogSealer(.ledger, client: frame.client, logger: frame.logger)
    return frame.composition(
        charging.services + [sealer, runner, consumer, batcher],
        environments: frame.environmentWatch(
            settings.environment,
            against: .receipts,
            at: settings.receiptsURL
        )
    ) { router in
        PaymentRoutes(
            payments: batcher,
            restores: RestoreHandler(context: context, didCommit: wakeRelay),
            transactions: TransactionReader(client: frame.client),
            admin: AdminHandler(context: context, didCommit: didCommit),
            refunds: RefundHandler(context: context, runner: runner, didCommit: wakeRelay),
            resumptions: ResumptionHandler(
                context: context,
                processor: charging.processor,
                products: products,
                didCommit: didCommit
            ),
            defaultMethod: charging.defaultMethod,
            restoreTokenAgeMax: settings.restoreTokenAgeMax,
            machineNow: frame.machineNow
        ).add(to: router)
        AccountRoutes(
            accounts: AccountHandler(
                client: frame.client,
                products: products,
                now: frame.storeNow,
                didCommit: wakeRelay
            )
        ).add(to: router)
    }
}

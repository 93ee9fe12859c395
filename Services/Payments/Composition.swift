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
        publishes: [Topics.paymentsTransactions, Topics.paymentsPurchasing, Topics.storeClock],
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
    let frame = try ServiceFrame(.payments, settings.common, logger: logger)
    return try composePayments(settings, on: frame)
}

/// Composes the parts that only `payments` has: for accepting, charging and settling payments, and
/// for restores, refunds and resumptions.
private func composePayments(
    _ settings: PaymentsSettings,
    on frame: ServiceFrame
) throws -> Composition {
    let products = ProductStore()
    let charging = try ChargingParts(settings, products: products, on: frame)
    let (context, runner, wakeRelay) = (charging.context, charging.runner, frame.wakeRelay)
    let acceptance = try AcceptanceParts(settings, charging, products: products, on: frame)
    // No buyer waits for these events, so a quiet broker is asked less often.
    let consumer = frame.consumer(
        of: [Topics.catalogProducts, Topics.fulfillmentTransactions],
        handler: ProjectionHandler(),
        fetchWait: .milliseconds(200)
    )
    let environments = frame.environmentWatch(
        settings.environment,
        against: .receipts,
        at: settings.receiptsURL
    )
    let renewals = try RenewalParts(settings, charging, products: products, on: frame)
    let accounts = AccountParts(charging, products: products, on: frame)
    let clock = ClockParts(settings, environments, runner: runner, renewals.works, on: frame)
    return frame.composition(
        charging.services
            + [
                LogSealer(.ledger, client: frame.client, logger: frame.logger), clock.keeper,
                runner, RenewalParts.gaps(on: frame), renewals.runner, renewals.extensions,
                renewals.watch, renewals.enrolments, accounts.runner,
                WorkLook(for: renewals, charging, accounts, on: frame),
                consumer, acceptance.batcher,
            ],
        readiness: [clock.check] + charging.readiness,
        environments: environments
    ) { router in
        clock.addRoutes(to: router)
        renewals.addRoutes(to: router)
        charging.addRoutes(to: router)
        CodeParts(settings, charging, acceptance, products: products, on: frame)
            .addRoutes(to: router)
        accounts.addRoutes(to: router)
        PaymentRoutes(
            pay: acceptance.pay,
            restores: RestoreHandler(context: context, didCommit: wakeRelay),
            transactions: TransactionReader(client: frame.client),
            approvals: ApprovalHandler(context: context, didCommit: charging.didCommit),
            refunds: RefundHandler(context: context, runner: runner, didCommit: wakeRelay),
            resumptions: ResumptionHandler(
                context: context,
                processor: charging.processor,
                products: products,
                didCommit: charging.didCommit
            ),
            actions: charging.actions,
            defaultMethod: charging.defaultMethod,
            refusesCardNumbers: charging.processor.hasSavedMethods,
            restoreTokenAgeMax: settings.restoreTokenAgeMax,
            machineNow: frame.machineNow
        ).add(to: router)
    }
}

import ClockAndIDs
import EventTypes
import Logging
import ServiceFoundation
import ServiceKit

extension ServiceDefinition {
    /// The definition of the service `receipts`.
    static let receipts = ServiceDefinition(
        .receipts,
        publishes: [Topics.receiptsIssued],
        migrations: ReceiptsMigrations.all,
        rebuilder: ReceiptsRebuildHandler(),
        commands: [.measure]
    )
}

/// Composes `receipts` from its settings.
///
/// It reads the files that the settings name, and opens no connection.
func composeReceipts(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = try ReceiptsSettings(&reader, now: .now())
    let frame = try ServiceFrame(.receipts, settings.common, logger: logger)
    let statuses = try OCSPDirectory(
        setting: settings.ocspDirectory,
        chain: settings.chain,
        at: frame.machineNow(),
        &reader,
        logger
    )
    settings.chain.warn(at: frame.machineNow(), logger)
    return try composeReceipts(settings, statuses, on: frame)
}

/// Builds the parts that only `receipts` has: the signers of transactions and app receipts, the
/// notifications and the server API for merchants, and the OCSP responder.
private func composeReceipts(
    _ settings: ReceiptsSettings,
    _ statuses: OCSPDirectory,
    on frame: ServiceFrame
) throws -> Composition {
    let (chain, now) = (settings.chain, frame.storeNow)
    let store = ReceiptStore()
    let signer = ReceiptSigner(
        chain: chain,
        environment: settings.environment,
        machineNow: frame.machineNow
    )
    let appReceipts = try AppReceiptParts(settings, on: frame)
    let merchants = try MerchantParts(settings, store: store, signer: signer, on: frame)
    let environments = frame.environmentWatch(
        settings.environment,
        against: .payments,
        at: settings.paymentsURL,
        // Verifiers that work offline read the chain at the date of the signature: store time.
        signsUntil: StoreTime(millisecondsSinceEpoch: chain.validUntil.millisecondsSinceEpoch)
    )
    let consumer = frame.consumer(
        of: [
            Topics.paymentsTransactions, Topics.fulfillmentTransactions, Topics.catalogProducts,
        ],
        handler: ReceiptHandler(
            store: store,
            signer: signer,
            notificationWriter: merchants.notificationWriter,
            now: now,
            wakeRelay: frame.wakeRelay,
            wakeNotifications: merchants.wake,
            didMeetForeignTransaction: { environments.noteForeignEvent(of: $0.environment) }
        )
    )
    return frame.composition(
        [merchants.sender, merchants.keeper, consumer],
        readiness: [
            ReadinessCheck("signing chain") { chain.isValid(at: frame.machineNow()) },
            ReadinessCheck("signing certificate not revoked") {
                statuses.believes(chain, at: frame.machineNow())
            },
        ],
        environments: environments
    ) { router in
        let reader = ReceiptReader(store: store, client: frame.client)
        ReceiptRoutes(reader: reader, rootCertificate: chain.rootCertificate).add(to: router)
        SubscriptionStatusRoutes(signer: signer, on: frame).add(to: router)
        appReceipts.addRoutes(to: router)
        OCSPRoutes(directory: statuses, now: frame.machineNow).add(to: router)
        merchants.addRoutes(to: router)
    }
}

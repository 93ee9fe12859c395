import EventTypes
import ServiceFoundation
import ServiceKit

/// The parts of `receipts` that make app receipts, and that answer Apple's `verifyReceipt` with
/// them.
struct AppReceiptParts {
    private let reader: AppReceiptReader
    private let verification: VerifyReceiptHandler

    init(_ settings: ReceiptsSettings, on frame: ServiceFrame) throws {
        reader = AppReceiptReader(
            client: frame.client,
            signer: try AppReceiptSigner(chain: settings.chain, machineNow: frame.machineNow),
            environment: settings.environment,
            now: frame.storeNow
        )
        verification = VerifyReceiptHandler(
            reader: reader,
            roots: [settings.chain.rootCertificate] + settings.formerRoots,
            secrets: settings.sharedSecrets,
            logger: frame.logger
        )
    }

    /// Adds the routes for apps, and `verifyReceipt` for merchants' servers.
    func addRoutes(to router: StoreRouter) {
        AppReceiptRoutes(reader: reader).add(to: router)
        VerifyReceiptRoutes(handler: verification).add(to: router)
    }
}

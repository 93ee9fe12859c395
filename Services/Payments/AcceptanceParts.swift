import EventTypes
import ServiceFoundation
import ServiceKit

/// The parts of `payments` that accept payments in batches.
struct AcceptanceParts {
    /// Collects concurrent requests, so that one database transaction accepts many payments.
    let batcher: RequestBatcher<PaymentSubmission, PaymentReply>

    init(
        _ settings: PaymentsSettings,
        _ charging: ChargingParts,
        products: ProductStore,
        on frame: ServiceFrame
    ) throws {
        let handler = PaymentHandler(
            context: charging.context,
            processor: charging.processor,
            products: products,
            tax: settings.tax,
            offerKeys: try OfferKeys(
                directory: settings.offerKeysDirectory,
                now: frame.machineNow,
                logger: frame.logger
            ),
            didCommit: charging.didCommit
        )
        batcher = RequestBatcher(
            name: "payments",
            waitMax: settings.common.databaseWaitMax,
            // Each batch is also charged, settled, published, signed and delivered.
            restingBelow: 16,
            logger: frame.logger,
            perform: { [renewals = charging.runner.renewals] submissions in
                // Renewals give way as soon as a buyer asks, and not only once the payment is accepted.
                renewals.noteBuyers()
                return try await handler.accept(submissions)
            }
        )
    }
}

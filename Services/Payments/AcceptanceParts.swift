import EventTypes
import ServiceFoundation
import ServiceKit

/// The parts of `payments` that accept payments in batches.
struct AcceptanceParts {
    /// Collects concurrent requests, so that one database transaction accepts many payments.
    let batcher: RequestBatcher<AcceptanceBatch.Entry, PaymentReply>
    /// Accepts or refuses a payment, in a batch with others.
    let pay: @Sendable (PaymentSubmission) async throws -> PaymentReply

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
        let batcher = RequestBatcher<AcceptanceBatch.Entry, PaymentReply>(
            name: "payments",
            waitMax: settings.common.databaseWaitMax,
            // Each batch is also charged, settled, published, signed and delivered.
            restingBelow: 16,
            logger: frame.logger,
            perform: { [renewals = charging.runner.renewals] entries in
                // Renewals give way as soon as a buyer asks, and not only once the payment is accepted.
                renewals.noteBuyers()
                return try await handler.accept(entries)
            }
        )
        self.batcher = batcher
        // Signatures of offers are checked side by side, and nobody else's payment waits for that.
        pay = { submission in
            try await batcher.submit(preparing: { handler.entry(for: submission) })
        }
    }
}

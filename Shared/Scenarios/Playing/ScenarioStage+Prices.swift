import EventTypes
import NIOHTTP1
import PaymentQueue
import StoreAPI

/// Prices that change, and the answers of subscribers.
extension ScenarioStage {
    private static let usa = EventTypes.Storefront(unchecked: "USA")
    /// A storefront in which no story sells.
    ///
    /// The price there shows when `payments` knows a version of a product.
    private static let antarctica = EventTypes.Storefront(unchecked: "ATA")

    /// Schedules a product's price, and waits until `payments` knows it.
    ///
    /// - Returns: The product as the catalog knows it now.
    func schedule(_ change: ScenarioPriceChange) async throws -> ProductDraft? {
        guard var draft = drafts[change.product] else { return nil }
        let before = draft
        let now = try await connection.storeTime()
        if let last = draft.priceChanges?[Self.usa], last.from <= now {
            draft.prices[Self.usa] = last.price
        }
        draft.priceChanges = [
            Self.usa: PriceChange(
                price: change.price,
                from: now.advanced(by: change.delay.duration),
                existingSubscribers: change.isForSubscribers ? .raise : .preserve
            )
        ]
        let mark = Money(
            // No processor refuses a hundred of the smallest units.
            minorUnits: (draft.prices[Self.antarctica]?.minorUnits ?? 99) + 1,
            currency: change.price.currency
        )
        draft.prices[Self.antarctica] = mark
        do {
            try await connection.send(
                .PUT,
                connection.store.addresses.catalog
                    + Routes.adminProduct(cast.product(change.product)),
                by: .administrator,
                draft
            )
        } catch let refusal as ScenarioConnection.Refusal {
            try Self.judge(refusal.code, refused: change.refused)
            return before
        }
        try Self.judge(nil, refused: change.refused)
        try await waitUntilSold(
            change.product,
            in: Self.antarctica,
            for: mark,
            not: ["product_unknown", "product_unavailable", "stale_price"]
        )
        return draft
    }

    /// Answers the question about a higher price of a subscription.
    func answer(
        _ decision: PriceIncreaseDecisionRequest.Decision,
        toPriceOf payment: PlayedPayment,
        refused: String?
    ) async throws {
        let id = try await connection.subscriptionID(of: payment)
        try await ask(
            Routes.priceIncrease(id),
            PriceIncreaseDecisionRequest(decision: decision),
            by: .account(payment.account),
            method: .PUT,
            refused: refused
        )
    }
}

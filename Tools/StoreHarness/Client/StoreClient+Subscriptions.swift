public import EventTypes
import Foundation
import NIOHTTP1
public import StoreAPI

extension StoreClient {
    /// Requests the account's subscriptions.
    public func subscriptions() async throws -> StoreAnswer<SubscriptionsResponse> {
        try await StoreAnswer.of(raw(.GET, urls.payments + Routes.subscriptions))
    }

    /// Turns auto-renew on or off.
    public func setAutoRenew(
        _ isOn: Bool,
        of id: TransactionID
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        try await StoreAnswer.of(
            raw(
                .PUT,
                urls.payments + Routes.autoRenew(id),
                body: Array(try JSONEncoder().encode(AutoRenewRequest(isOn: isOn)))
            )
        )
    }

    /// Chooses the product of the next period.
    public func choose(
        _ product: ProductID,
        for id: TransactionID
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        let request = SubscriptionProductRequest(productID: product)
        return try await StoreAnswer.of(
            raw(
                .PUT,
                urls.payments + Routes.subscriptionProduct(id),
                body: Array(try JSONEncoder().encode(request))
            )
        )
    }

    /// Chooses the payment method of a subscription.
    public func choose(
        _ method: PaymentMethod,
        for id: TransactionID
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        let request = SubscriptionMethodRequest(paymentMethod: method)
        return try await StoreAnswer.of(
            raw(
                .PUT,
                urls.payments + Routes.subscriptionMethod(id),
                body: Array(try JSONEncoder().encode(request))
            )
        )
    }

    /// Answers the question about a higher price.
    public func answer(
        _ decision: PriceIncreaseDecisionRequest.Decision,
        to increase: PriceIncrease,
        of id: TransactionID
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        let request = PriceIncreaseDecisionRequest(decision: decision, increaseID: increase.id)
        return try await StoreAnswer.of(
            raw(
                .PUT,
                urls.payments + Routes.priceIncrease(id),
                body: Array(try JSONEncoder().encode(request))
            )
        )
    }
}

extension StoreAdministrator {
    /// Extends the newest period of a subscription, once for each key.
    public func extend(
        _ id: TransactionID,
        by days: Int,
        key: String
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.adminExtensions(id),
            ExtensionRequest(days: days),
            key: key
        )
    }

    /// Extends all subscribers of a product, once for each key, and tells how far it has come.
    public func extendAll(
        _ request: MassExtensionRequest,
        key: String
    ) async throws -> StoreAnswer<MassExtensionResponse> {
        try await send(.POST, urls.payments + Routes.adminMassExtensions, request, key: key)
    }

    /// Sets what a test has the sandbox do with an account.
    public func set(
        _ settings: TestSettingsDocument,
        for account: AccountID
    ) async throws -> StoreAnswer<TestSettingsDocument> {
        try await send(.PUT, urls.payments + Routes.testSettings(account), settings)
    }

    /// Raises the price of a subscription.
    public func raise(
        _ id: TransactionID,
        of product: ProductID,
        to price: Money
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        try await send(
            .PUT,
            urls.payments + Routes.adminPriceIncrease(id),
            PriceIncreaseRequest(productID: product, price: price)
        )
    }

    /// Has a subscriber asked about a higher price at once, as only a sandbox does.
    public func ask(
        about price: Money,
        of id: TransactionID
    ) async throws -> StoreAnswer<SubscriptionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.testPriceIncrease(id),
            TestPriceIncreaseRequest(price: price)
        )
    }

    /// Requests the store's clock.
    public func clock() async throws -> StoreAnswer<ClockResponse> {
        try await send(.GET, urls.payments + Routes.adminClock)
    }

    /// Freezes the store's clock.
    public func freezeClock() async throws -> StoreAnswer<ClockResponse> {
        try await send(.POST, urls.payments + Routes.adminClockFreeze)
    }

    /// Lets the store's clock run at a rate such as `1h=1d`.
    public func runClock(rate: String) async throws -> StoreAnswer<ClockResponse> {
        try await send(.POST, urls.payments + Routes.adminClockRun, ClockRunRequest(rate: rate))
    }

    /// Advances the store's clock by a span such as `31d`.
    public func advanceClock(
        by span: String,
        key: String
    ) async throws -> StoreAnswer<ClockResponse> {
        try await send(.POST, urls.payments + Routes.adminClockAdvance, ["by": span], key: key)
    }

    /// Resumes an advance that failed.
    public func resumeClock() async throws -> StoreAnswer<ClockResponse> {
        try await send(.POST, urls.payments + Routes.adminClockResume)
    }
}

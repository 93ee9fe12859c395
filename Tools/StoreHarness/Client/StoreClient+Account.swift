public import EventTypes
public import Foundation
import NIOHTTP1
public import StoreAPI

extension StoreClient {
    /// Requests the settings of the account.
    public func storeAccount() async throws -> StoreAnswer<AccountResponse> {
        try await StoreAnswer.of(raw(.GET, urls.payments + Routes.account))
    }

    /// Declines a purchase that was begun outside the app.
    public func decline(
        _ intent: PurchaseIntentID
    ) async throws -> StoreAnswer<AccountResponse> {
        try await StoreAnswer.of(raw(.DELETE, urls.payments + Routes.purchaseIntent(intent)))
    }
}

extension StoreAdministrator {
    /// Resumes an interrupted payment, by a payment method or by the default one.
    public func resume(
        _ id: TransactionID,
        by method: PaymentMethod? = nil
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.resumption(id),
            method.map { ResumptionRequest(paymentMethod: $0) }
        )
    }

    /// Takes a step of a dispute at the sandbox's processor.
    public func dispute(
        _ step: TestDisputeRequest.Step,
        of id: TransactionID
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.testDispute(id),
            TestDisputeRequest(step: step)
        )
    }

    /// Changes an account's permission to pay and its storefront.
    public func change(
        _ account: AccountID,
        _ change: AccountChangeRequest
    ) async throws -> StoreAnswer<AccountResponse> {
        try await send(.PUT, urls.payments + Routes.adminAccount(account), change)
    }

    /// Begins a purchase for an account.
    public func begin(
        _ request: PurchaseIntentRequest,
        for account: AccountID,
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<PurchaseIntentResponse> {
        try await send(
            .POST,
            urls.payments + Routes.adminPurchaseIntents(account),
            request,
            key: key
        )
    }
}

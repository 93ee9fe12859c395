public import EventTypes
public import Foundation
public import StoreAPI

extension PaymentRequest {
    /// A payment for one of the sample's products in the United States.
    ///
    /// - Parameters:
    ///   - product: What to buy.
    ///   - method: How to pay.
    ///   - quantity: How many.
    /// - Returns: The payment.
    public static func sample(
        _ product: ProductID = SampleCatalog.coins,
        by method: SandboxPaymentMethod = .success,
        quantity: Int = 1
    ) -> PaymentRequest {
        PaymentRequest(
            productID: product,
            quantity: quantity,
            storefront: SampleCatalog.usa,
            price: SampleCatalog.price(of: product),
            paymentMethod: method.rawValue
        )
    }
}

extension StoreClient {
    /// Adds a payment and asks again, under the same key, until it is answered: a lost connection
    /// and a 503 are no answers.
    ///
    /// - Parameters:
    ///   - request: The payment.
    ///   - key: The idempotency key.
    ///   - limit: How long to go on.
    /// - Returns: The first real answer.
    /// - Throws: ``HarnessError`` when the time is up.
    public func addUntilAnswered(
        _ request: PaymentRequest,
        key: String = UUID().uuidString,
        within limit: Duration = .seconds(60)
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await untilAnswered("a payment to be answered", within: limit) {
            try await self.add(request, key: key)
        }
    }

    /// Finishes a transaction and asks again until it is answered; 409 means not delivered yet.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - limit: How long to go on.
    /// - Returns: The answer.
    /// - Throws: ``HarnessError`` when the time is up.
    @discardableResult
    public func finishUntilDone(
        _ id: TransactionID,
        within limit: Duration = .seconds(60)
    ) async throws -> FinishResponse {
        try await eventually(within: limit, "transaction \(id) to be finished") {
            // No answer, 404 (not in the queue yet) and 409 (not delivered yet): ask again.
            let answer = try await self.finish(id)
            return try answer.asksToTryAgain ? nil : answer.valueIfAny
        }
    }

    /// Waits until a transaction is in a state, as `payments` says.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - state: The state.
    ///   - limit: How long to wait.
    /// - Returns: The transaction in that state.
    /// - Throws: ``HarnessError`` when the time is up.
    @discardableResult
    public func wait(
        for id: TransactionID,
        toBe state: TransactionState,
        within limit: Duration = .seconds(60)
    ) async throws -> Transaction {
        try await eventually(within: limit, "transaction \(id) to be \(state)") {
            // No answer: ask again.
            let answer = try await self.transaction(id)
            let transaction = try answer.asksToTryAgain ? nil : answer.valueIfAny?.transaction
            return transaction?.state == state ? transaction : nil
        }
    }

    private func untilAnswered<Value>(
        _ what: String,
        within limit: Duration,
        _ ask: @escaping @Sendable () async throws -> StoreAnswer<Value>
    ) async throws -> StoreAnswer<Value> {
        try await eventually(within: limit, what) {
            // A lost connection is what the repetition is for.
            let answer = try await ask()
            return try answer.asksToTryAgain ? nil : answer
        }
    }
}

public import EventTypes
public import Foundation
public import StoreAPI

extension PaymentRequest {
    /// Returns a payment for one of the sample products in the United States.
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - method: The payment method.
    ///   - quantity: The number of units.
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
            paymentMethod: method.method
        )
    }
}

extension StoreClient {
    /// Adds a payment and repeats the request, under the same key, until it is answered.
    ///
    /// A lost connection or a 503 is not an answer.
    ///
    /// - Parameters:
    ///   - request: The payment.
    ///   - key: The idempotency key.
    ///   - limit: The time limit.
    /// - Returns: The first real answer.
    /// - Throws: ``HarnessError`` after the time limit.
    public func addUntilAnswered(
        _ request: PaymentRequest,
        key: String = UUID().uuidString,
        within limit: Duration = .seconds(60)
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await untilAnswered("a payment to be answered", within: limit) {
            try await self.add(request, key: key)
        }
    }

    /// Finishes a transaction and repeats the request until it succeeds.
    ///
    /// A 409 means that it is not delivered yet.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - limit: The time limit.
    /// - Returns: The answer.
    /// - Throws: ``HarnessError`` after the time limit.
    @discardableResult
    public func finishUntilDone(
        _ id: TransactionID,
        within limit: Duration = .seconds(60)
    ) async throws -> FinishResponse {
        try await eventually(within: limit, "transaction \(id) to be finished") {
            // Ask again without an answer, and after 404 (not in the queue yet) and 409 (not
            // delivered yet).
            let answer = try await self.finish(id)
            return try answer.asksToTryAgain ? nil : answer.valueIfAny
        }
    }

    /// Waits until `payments` reports a transaction in a given state.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - state: The state.
    ///   - limit: The time limit.
    /// - Returns: The transaction in that state.
    /// - Throws: ``HarnessError`` after the time limit.
    @discardableResult
    public func wait(
        for id: TransactionID,
        toBe state: TransactionState,
        within limit: Duration = .seconds(60)
    ) async throws -> Transaction {
        try await eventually(within: limit, "transaction \(id) to be \(state)") {
            // Without an answer, ask again.
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
            // The request is repeated after a lost connection.
            let answer = try await ask()
            return try answer.asksToTryAgain ? nil : answer
        }
    }
}

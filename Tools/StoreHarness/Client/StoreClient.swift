public import EventTypes
public import Foundation
public import NIOHTTP1
public import StoreAPI

/// The addresses of the four services.
public struct StoreURLs: Sendable {
    /// The base URL of `catalog`.
    public var catalog: String
    /// The base URL of `payments`.
    public var payments: String
    /// The base URL of `receipts`.
    public var receipts: String
    /// The base URL of `fulfillment`.
    public var fulfillment: String

    /// Makes addresses from base URLs.
    public init(catalog: String, payments: String, receipts: String, fulfillment: String) {
        self.catalog = catalog
        self.payments = payments
        self.receipts = receipts
        self.fulfillment = fulfillment
    }
}

/// A typed answer of the store: a value or a problem.
public struct StoreAnswer<Value: Sendable>: Sendable {
    /// The raw response.
    public let response: StoreResponse
    /// The value of a 2xx response.
    public let valueIfAny: Value?
    /// The problem of any other response, if it is a problem document.
    public let problem: Problem?

    /// The status code.
    public var status: Int { response.status }

    /// Whether the answer asks for a retry, because the store or a proxy in front of it is
    /// temporarily unavailable.
    ///
    /// - Throws: ``HarnessError`` for any other 5xx, such as a 500. That is a fault of the store,
    ///   and a retry would hide it.
    public var asksToTryAgain: Bool {
        get throws {
            guard status >= 500 else { return false }
            guard [502, 503, 504].contains(status) else {
                throw StoreFault("The store failed with \(status): \(response.text)")
            }
            return true
        }
    }

    /// The value.
    ///
    /// It throws an error with the problem if there is no value.
    public var value: Value {
        get throws {
            if let valueIfAny { return valueIfAny }
            throw HarnessError("Refused with \(status): \(response.text)")
        }
    }
}

/// A client of the store for one buyer's app.
public struct StoreClient: Sendable {
    /// The account.
    public let account: AccountID
    /// The addresses of the services.
    public let urls: StoreURLs
    /// The token of the account.
    public let token: String
    /// The time limit for an answer.
    public var timeout: Duration = .seconds(60)
    /// The stand-in for Stripe, if the store charges there.
    ///
    /// Then the buyer pays with a saved card that does what a payment method of the sandbox does.
    package var stripe: StoreStripe?

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - urls: The addresses of the services.
    ///   - token: The token of the account.
    public init(account: AccountID, urls: StoreURLs, token: String) {
        self.account = account
        self.urls = urls
        self.token = token
    }

    /// The payment method with which the account pays as with one of the sandbox: that itself, or
    /// with Stripe a saved card that does the same.
    ///
    /// A card is saved at the first call.
    ///
    /// - Throws: An error if the card cannot be saved.
    package func payingMethod(
        like method: SandboxPaymentMethod = .success
    ) async throws -> PaymentMethod {
        try await stripe?.saved(method, of: self) ?? method.method
    }

    /// Requests products.
    public func products(
        _ ids: [String],
        storefront: String = "USA",
        language: String = "en-US"
    ) async throws -> StoreAnswer<ProductsResponse> {
        let query =
            "ids=\(ids.joined(separator: ","))&storefront=\(storefront)&language=\(language)"
        return try await send(.GET, urls.catalog + Routes.products + "?" + query)
    }

    /// Adds a payment.
    ///
    /// - Parameters:
    ///   - request: The payment.
    ///   - key: The idempotency key. It is the same for every repetition of this request.
    /// - Returns: The answer with any status.
    /// - Throws: An error if there is no answer.
    public func add(
        _ request: PaymentRequest,
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<TransactionResponse> {
        var request = request
        if let stripe {
            request.paymentMethod = try await stripe.saved(request.paymentMethod, of: self)
        }
        return try await send(
            .POST,
            urls.payments + Routes.payments,
            body: try JSONEncoder().encode(request),
            headers: [("idempotency-key", key)]
        )
    }

    /// Requests a transaction from `payments`.
    public func transaction(
        _ id: TransactionID
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(.GET, urls.payments + Routes.transaction(id))
    }

    /// Restores the account's purchases.
    public func restore(
        _ request: RestoreRequest = RestoreRequest(),
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<RestoreResponse> {
        try await send(
            .POST,
            urls.payments + Routes.restores,
            body: try JSONEncoder().encode(request),
            headers: [("idempotency-key", key)]
        )
    }

    /// Requests the signed transaction.
    public func receipt(_ id: TransactionID) async throws -> StoreAnswer<ReceiptResponse> {
        try await send(.GET, urls.receipts + Routes.receipt(id))
    }

    /// Finishes a transaction.
    public func finish(_ id: TransactionID) async throws -> StoreAnswer<FinishResponse> {
        try await send(.POST, urls.fulfillment + Routes.finish(id))
    }

    /// Requests the unfinished transactions.
    public func unfinished() async throws -> StoreAnswer<QueueResponse> {
        try await send(.GET, urls.fulfillment + Routes.queueTransactions)
    }

    /// Requests the products that the account owns.
    public func entitlements() async throws -> StoreAnswer<EntitlementsResponse> {
        try await send(.GET, urls.fulfillment + Routes.entitlements)
    }

    /// Requests the account's credits.
    public func credits() async throws -> StoreAnswer<CreditsResponse> {
        try await send(.GET, urls.fulfillment + Routes.credits)
    }

    /// Returns the queue as a stream.
    ///
    /// - Parameter lastEventID: The event id from which to resume.
    /// - Returns: The stream. It connects when it is read.
    public func queue(after lastEventID: String? = nil) -> QueueStream {
        QueueStream(
            url: urls.fulfillment + Routes.queue,
            token: token,
            lastEventID: lastEventID
        )
    }

    /// Sends any request with the account's token, for tests of requests that must be refused.
    public func raw(
        _ method: HTTPMethod,
        _ url: String,
        body: [UInt8]? = nil,
        headers: [(String, String)] = [("content-type", "application/json")]
    ) async throws -> StoreResponse {
        try await StoreHTTP.send(
            method,
            url,
            headers: headers + [("authorization", "Bearer \(token)")],
            body: body,
            timeout: timeout
        )
    }

    private func send<Value: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ url: String,
        body: Data? = nil,
        headers: [(String, String)] = []
    ) async throws -> StoreAnswer<Value> {
        try await StoreAnswer.of(
            raw(
                method,
                url,
                body: body.map { Array($0) },
                headers: headers + (body == nil ? [] : [("content-type", "application/json")])
            )
        )
    }
}

/// A client of the store for its administrator.
public struct StoreAdministrator: Sendable {
    /// The addresses of the services.
    public let urls: StoreURLs
    /// The token of the administrator.
    public let token: String

    /// Makes an administrator.
    ///
    /// - Parameters:
    ///   - urls: The addresses of the services.
    ///   - token: The token of the administrator.
    public init(urls: StoreURLs, token: String) {
        self.urls = urls
        self.token = token
    }

    /// Imports a catalog.
    public func importCatalog(
        _ document: CatalogDocument
    ) async throws -> StoreAnswer<CatalogImportResult> {
        try await send(.PUT, urls.catalog + Routes.adminCatalog, document)
    }

    /// Creates or changes a product.
    public func put(_ draft: ProductDraft, as id: ProductID) async throws -> StoreResponse {
        try await raw(
            .PUT,
            urls.catalog + Routes.adminProduct(id),
            body: Array(try JSONEncoder().encode(draft))
        )
    }

    /// Sets the endpoint that receives the notifications of the tests' app.
    public func setNotificationEndpoint(
        to url: String
    ) async throws -> StoreAnswer<NotificationEndpointDocument> {
        try await send(
            .PUT,
            urls.receipts + Routes.adminNotificationEndpoint(StoreKeys.bundleID),
            NotificationEndpointDocument(url: url)
        )
    }

    /// Refunds a transaction: the rest, or an amount under a key.
    public func refund(
        _ id: TransactionID,
        _ request: RefundRequest = RefundRequest(),
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(.POST, urls.payments + Routes.refund(id), request, key: key)
    }

    /// Reverses a refund.
    public func reverseRefund(
        _ number: Int,
        of id: TransactionID,
        because reason: ActReason? = nil
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.refundReversal(id, number),
            RefundReversalRequest(reason: reason)
        )
    }

    /// Approves or declines a deferred transaction.
    public func decide(
        _ decision: ApprovalRequest.Decision,
        on id: TransactionID,
        because reason: ActReason? = nil
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.approval(id),
            ApprovalRequest(decision: decision, reason: reason)
        )
    }

    /// Sends any request with the administrator's token.
    public func raw(
        _ method: HTTPMethod,
        _ url: String,
        body: [UInt8]? = nil,
        key: String = UUID().uuidString
    ) async throws -> StoreResponse {
        try await StoreHTTP.send(
            method,
            url,
            headers: [
                ("authorization", "Bearer \(token)"), ("content-type", "application/json"),
                ("idempotency-key", key),
            ],
            body: body
        )
    }

    /// Sends a request with a value as its body, or with none.
    func send<Value: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ url: String,
        _ body: (any Encodable)? = nil,
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<Value> {
        let body = try body.map { Array(try JSONEncoder().encode($0)) }
        return try await StoreAnswer.of(raw(method, url, body: body, key: key))
    }
}

extension StoreAnswer where Value: Decodable {
    static func of(_ response: StoreResponse) throws -> StoreAnswer {
        if (200..<300).contains(response.status) {
            let value = try response.decode(Value.self)
            return StoreAnswer(response: response, valueIfAny: value, problem: nil)
        }
        // A response without a problem document still has its status and text.
        let problem = try? response.decode(Problem.self)
        return StoreAnswer(response: response, valueIfAny: nil, problem: problem)
    }
}

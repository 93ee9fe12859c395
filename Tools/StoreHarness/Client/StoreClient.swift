public import EventTypes
public import Foundation
public import NIOHTTP1
public import StoreAPI

/// Where the four services are.
public struct StoreURLs: Sendable {
    /// The base URL of each service; a client takes the first that is not skipped.
    public var catalog: String
    /// Of `payments`.
    public var payments: String
    /// Of `receipts`.
    public var receipts: String
    /// Of `fulfillment`.
    public var fulfillment: String

    /// Names them.
    public init(catalog: String, payments: String, receipts: String, fulfillment: String) {
        self.catalog = catalog
        self.payments = payments
        self.receipts = receipts
        self.fulfillment = fulfillment
    }
}

/// A typed answer of the store: a value, or the problem that it answered with instead.
public struct StoreAnswer<Value: Sendable>: Sendable {
    /// The answer as it came.
    public let response: StoreResponse
    /// What it holds, when it is a 2xx.
    public let valueIfAny: Value?
    /// Why not, when it is not.
    public let problem: Problem?

    /// The status code.
    public var status: Int { response.status }

    /// Whether the answer is to ask again: the store, or what stands before it, cannot do it at
    /// present.
    ///
    /// - Throws: ``HarnessError`` at any other 5xx, such as a 500: that is a fault of the store, and
    ///   no repetition makes up for it.
    public var asksToTryAgain: Bool {
        get throws {
            guard status >= 500 else { return false }
            guard [502, 503, 504].contains(status) else {
                throw StoreFault("The store failed with \(status): \(response.text)")
            }
            return true
        }
    }

    /// The value, or an error that shows the problem.
    public var value: Value {
        get throws {
            if let valueIfAny { return valueIfAny }
            throw HarnessError("Refused with \(status): \(response.text)")
        }
    }
}

/// Speaks to a store as one buyer's app does.
public struct StoreClient: Sendable {
    /// The account.
    public let account: AccountID
    /// Where the services are.
    public let urls: StoreURLs
    /// Proves the account.
    public let token: String
    /// How long to wait for an answer.
    public var timeout: Duration = .seconds(15)

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - urls: Where the services are.
    ///   - token: Proves the account.
    public init(account: AccountID, urls: StoreURLs, token: String) {
        self.account = account
        self.urls = urls
        self.token = token
    }

    /// What can be bought.
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
    ///   - key: The idempotency key; the same for every repetition of this request.
    /// - Returns: The answer, whatever its status.
    /// - Throws: An error when there is no answer.
    public func add(
        _ request: PaymentRequest,
        key: String = UUID().uuidString
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.payments,
            body: try JSONEncoder().encode(request),
            headers: [("idempotency-key", key)]
        )
    }

    /// A transaction as `payments` has it.
    public func transaction(
        _ id: TransactionID
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(.GET, urls.payments + Routes.transaction(id))
    }

    /// Restores what the account owns.
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

    /// The signed transaction.
    public func receipt(_ id: TransactionID) async throws -> StoreAnswer<ReceiptResponse> {
        try await send(.GET, urls.receipts + Routes.receipt(id))
    }

    /// Finishes a transaction.
    public func finish(_ id: TransactionID) async throws -> StoreAnswer<FinishResponse> {
        try await send(.POST, urls.fulfillment + Routes.finish(id))
    }

    /// The unfinished transactions.
    public func unfinished() async throws -> StoreAnswer<QueueResponse> {
        try await send(.GET, urls.fulfillment + Routes.queueTransactions)
    }

    /// What the account owns.
    public func entitlements() async throws -> StoreAnswer<EntitlementsResponse> {
        try await send(.GET, urls.fulfillment + Routes.entitlements)
    }

    /// The account's credits.
    public func credits() async throws -> StoreAnswer<CreditsResponse> {
        try await send(.GET, urls.fulfillment + Routes.credits)
    }

    /// The queue as a stream.
    ///
    /// - Parameter lastEventID: Where to resume.
    /// - Returns: The stream, which connects when it is read.
    public func queue(after lastEventID: String? = nil) -> QueueStream {
        QueueStream(
            url: urls.fulfillment + Routes.queue,
            token: token,
            lastEventID: lastEventID
        )
    }

    /// Sends any request with the account's token, for tests of what should be refused.
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

/// Speaks to a store as its administrator does.
public struct StoreAdministrator: Sendable {
    /// Where the services are.
    public let urls: StoreURLs
    /// Proves the administrator.
    public let token: String

    /// Makes an administrator.
    ///
    /// - Parameters:
    ///   - urls: Where the services are.
    ///   - token: Proves the administrator.
    public init(urls: StoreURLs, token: String) {
        self.urls = urls
        self.token = token
    }

    /// Imports a catalog.
    public func importCatalog(
        _ document: CatalogDocument
    ) async throws -> StoreAnswer<CatalogImportResult> {
        try await send(
            .PUT,
            urls.catalog + Routes.adminCatalog,
            body: try JSONEncoder().encode(document)
        )
    }

    /// Creates or changes a product.
    public func put(_ draft: ProductDraft, as id: ProductID) async throws -> StoreResponse {
        try await raw(
            .PUT,
            urls.catalog + Routes.adminProduct(id),
            body: Array(try JSONEncoder().encode(draft))
        )
    }

    /// Sets where the server of the tests' app is told what happens.
    public func setNotificationEndpoint(
        to url: String
    ) async throws -> StoreAnswer<NotificationEndpointDocument> {
        try await send(
            .PUT,
            urls.receipts + Routes.adminNotificationEndpoint(StoreKeys.bundleID),
            body: try JSONEncoder().encode(NotificationEndpointDocument(url: url))
        )
    }

    /// Refunds a transaction.
    public func refund(_ id: TransactionID) async throws -> StoreAnswer<TransactionResponse> {
        try await send(.POST, urls.payments + Routes.refund(id), body: Data("{}".utf8))
    }

    /// Approves or declines a deferred transaction.
    public func decide(
        _ decision: ApprovalRequest.Decision,
        on id: TransactionID
    ) async throws -> StoreAnswer<TransactionResponse> {
        try await send(
            .POST,
            urls.payments + Routes.approval(id),
            body: try JSONEncoder().encode(ApprovalRequest(decision: decision))
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

    private func send<Value: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ url: String,
        body: Data
    ) async throws -> StoreAnswer<Value> {
        try await StoreAnswer.of(raw(method, url, body: Array(body)))
    }
}

extension StoreAnswer where Value: Decodable {
    static func of(_ response: StoreResponse) throws -> StoreAnswer {
        if (200..<300).contains(response.status) {
            let value = try response.decode(Value.self)
            return StoreAnswer(response: response, valueIfAny: value, problem: nil)
        }
        // An answer that is no problem document still has its status and text.
        let problem = try? response.decode(Problem.self)
        return StoreAnswer(response: response, valueIfAny: nil, problem: problem)
    }
}

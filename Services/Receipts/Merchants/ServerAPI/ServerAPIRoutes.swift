import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit

/// The App Store Server API for existing clients (spec section 2.1), through which merchants'
/// servers read their customers' transactions.
///
/// A transaction of another app gets the same answer as one that does not exist.
struct ServerAPIRoutes: Sendable {
    let authenticator: ServerAPIAuthenticator
    let reader: ServerAPIReader
    let tokens: AppAccountTokenHandler
    /// Finishes transactions.
    let fulfillment: ServerAPIForwarder
    /// Extends subscriptions.
    let payments: ServerAPIForwarder
    let apps: AppRegistry
    let now: @Sendable () -> StoreTime

    private var signer: ReceiptSigner { reader.signer }

    /// Adds the routes.
    func add(to router: StoreRouter) {
        let transactions: RouterPath = "v1/transactions"
        let group = router.open.group("/inApps")
            .add(middleware: ServerAPIMiddleware(authenticator: authenticator))
        group.group(transactions)
            .get("{id}", use: transaction)
            .post("{id}/finish", use: finish)
            .put("{id}/appAccountToken", use: setAppAccountToken)
            .get("appTransactions/{id}", use: appTransaction)
        group
            .get("v1/history/{id}") { try await history($0, $1, .v1) }
            .get("v2/history/{id}") { try await history($0, $1, .v2) }
            .get("v2/refund/lookup/{id}", use: refunds)
            .get("v1/lookup/{orderID}", use: order)
            .get("v1/subscriptions/{id}", use: subscriptionStatuses)
            .put("v1/subscriptions/extend/{id}", use: passToPayments)
            .post("v1/subscriptions/extend/mass", use: passToPayments)
            .get("v1/subscriptions/extend/mass/{productID}/{requestID}", use: passToPayments)
    }

    // MARK: Transactions

    @Sendable private func transaction(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        let id = try AnyTransactionID(context.parameters.get("id")).requireTransaction()
        return try jsonResponse(
            ServerAPIBodies.TransactionInfo(
                signedTransactionInfo: try await reader.transaction(id, in: bundle)
            )
        )
    }

    @Sendable private func finish(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        _ = try AnyTransactionID(context.parameters.get("id")).requireTransaction()
        return try await fulfillment.pass(request, within: context.trace)
    }

    @Sendable private func setAppAccountToken(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        let id = try AnyTransactionID(context.parameters.get("id")).requireTransaction()
        let body = try await collectBody(of: request)
        let parsed: ServerAPIBodies.AppAccountToken
        do {
            parsed = try StrictJSON.decode(
                ServerAPIBodies.AppAccountToken.self,
                from: Data(body.readableBytesView)
            )
        } catch DecodingError.typeMismatch {
            throw ServerAPIError.invalidAppAccountTokenUUID
        } catch {
            throw ServerAPIError.generalBadRequest
        }
        // Every spelling of a UUID is accepted, and lower case is stored.
        guard let token = parsed.appAccountToken.flatMap({ EventID($0.lowercased()) }) else {
            throw ServerAPIError.invalidAppAccountTokenUUID
        }
        try await tokens.set(token.description, of: id, in: bundle, trace: context.trace)
        return Response(status: .ok)
    }

    @Sendable private func appTransaction(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        let app = try app(of: bundle)
        let owner = try await owner(context, in: bundle)
        let found = try await reader.appTransaction(of: owner)
        let payload = AppTransactionPayload(
            found,
            of: bundle,
            appAppleID: app?.appAppleID,
            version: app?.version,
            in: signer.environment,
            at: now()
        )
        return try jsonResponse(
            ServerAPIBodies.AppTransactionInfo(
                signedAppTransactionInfo: try signer.compactJWS(of: payload.encoded())
            )
        )
    }

    // MARK: Histories

    private func history(
        _ request: Request,
        _ context: StoreRequestContext,
        _ version: HistoryQuery.Version
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        let app = try app(of: bundle)
        let parameters = QueryParameters(request.uri.query)
        let query = try HistoryQuery(parameters, version: version)
        let owner = try await owner(context, in: bundle)
        let scope = HistoryRevision.Scope(owner: owner, query: query.fingerprint)
        let start = try start(parameters, scope, query.order)
        let page = try await reader.history(of: owner, query, from: start)
        return try jsonResponse(
            ServerAPIBodies.History(
                revision: page.revision.token(scope: scope),
                hasMore: page.hasMore,
                bundleId: bundle,
                appAppleId: app?.appAppleID,
                environment: signer.environment,
                signedTransactions: page.transactions
            )
        )
    }

    @Sendable private func refunds(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        let owner = try await owner(context, in: bundle)
        let scope = HistoryRevision.Scope(owner: owner, query: "refunds")
        let start = try start(QueryParameters(request.uri.query), scope, .ascending)
        let page = try await reader.history(
            of: owner,
            try HistoryQuery(QueryParameters(""), version: .v2),
            from: start,
            onlyRefunded: true
        )
        return try jsonResponse(
            ServerAPIBodies.RefundHistory(
                signedTransactions: page.transactions,
                revision: page.revision.token(scope: scope),
                hasMore: page.hasMore
            )
        )
    }

    @Sendable private func order(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        var answer = ServerAPIBodies.OrderLookup(status: 1, signedTransactions: [])
        if let id = context.parameters.get("orderID").flatMap(OrderID.init(rawValue:)),
            let origin = try await reader.origin(of: id.transactionID, in: bundle),
            origin.reason.order(of: id.transactionID) == id
        {
            answer.status = 0
            answer.signedTransactions = [try await reader.transaction(id.transactionID, in: bundle)]
        }
        return try jsonResponse(answer)
    }

    private func start(
        _ parameters: QueryParameters,
        _ scope: HistoryRevision.Scope,
        _ order: HistoryQuery.Order
    ) throws(ServerAPIError) -> HistoryRevision {
        // Some clients send an empty token with the first page.
        guard let token = try parameters.single("revision", else: .invalidRequestRevision),
            !token.isEmpty
        else { return .start(order) }
        return try HistoryRevision(token: token, scope: scope)
    }

    // MARK: Subscriptions

    @Sendable private func subscriptionStatuses(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try bundle(of: context)
        let app = try app(of: bundle)
        let wanted = try QueryParameters(request.uri.query).all("status").map { text in
            guard text.count == 1, let status = Int(text), (1...5).contains(status) else {
                throw ServerAPIError.invalidStatus
            }
            return status
        }
        let owner = try await owner(context, in: bundle)
        return try jsonResponse(
            ServerAPIBodies.SubscriptionStatuses(
                environment: signer.environment,
                bundleId: bundle,
                appAppleId: app?.appAppleID,
                data: try await reader.statuses(of: owner, Set(wanted))
            )
        )
    }

    @Sendable private func passToPayments(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        try await payments.pass(request, within: context.trace)
    }

    // MARK: Callers

    private func bundle(of context: StoreRequestContext) throws -> BundleID {
        try context.requireServer().bundleID
    }

    /// Returns the app's registration, which production requires because verifiers compare its
    /// number.
    private func app(of bundle: BundleID) throws(ServerAPIError) -> AppRegistry.App? {
        switch apps.registration(of: bundle) {
        case .registered(let app): return app
        case .unreadable where signer.environment == .production: throw .appNotFoundRetryable
        case .missing where signer.environment == .production: throw .appNotFound
        case .unreadable, .missing: return nil
        }
    }

    private func owner(
        _ context: StoreRequestContext,
        in bundle: BundleID
    ) async throws -> OwnerKey {
        try await reader.owner(of: AnyTransactionID(context.parameters.get("id")), in: bundle)
    }
}

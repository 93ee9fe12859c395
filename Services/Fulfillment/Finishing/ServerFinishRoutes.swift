import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit

/// The only call of the App Store Server API that `fulfillment` answers: a merchant's server
/// finishes a transaction after it has delivered (spec rule 59).
///
/// The finish follows the same rules as a client's. The answer is 2xx once the finish is durable,
/// even if the transaction was finished before.
struct ServerFinishRoutes: Sendable {
    let authenticator: ServerAPIAuthenticator
    let store: QueueReadStore
    let finishes: RequestBatcher<FinishRequest, FinishOutcome>

    /// Adds the route.
    func add(to router: StoreRouter) {
        router.open.group("/inApps/v1/transactions")
            .add(middleware: ServerAPIMiddleware(authenticator: authenticator))
            .post("{id}/finish", use: finish)
    }

    @Sendable private func finish(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let bundle = try context.requireServer().bundleID
        guard let id = context.parameters.get("id").flatMap(TransactionID.init(rawValue:)) else {
            throw ServerAPIError.invalidTransactionID
        }
        // A transaction of another app, or one that was never paid, does not exist for this server.
        guard let found = try await store.queue(of: id), found.queue.bundleID == bundle,
            found.isPaid
        else { throw ServerAPIError.transactionIDNotFound }
        let finish = FinishRequest(
            transactionID: id,
            queue: found.queue,
            trace: context.trace
        )
        switch try await finishes.submit(finish) {
        case .finished:
            return Response(status: .ok)
        case .refused(.notDelivered):
            throw ServerAPIError.notDelivered
        case .refused:
            throw ServerAPIError.transactionIDNotFound
        }
    }
}

extension ServerAPIError {
    /// A delivery is not confirmed yet (spec rule 50).
    ///
    /// Apple has no number for it.
    fileprivate static let notDelivered = ServerAPIError(
        4_000_000,
        "Bad request. The transaction's content isn't delivered yet."
    )
}

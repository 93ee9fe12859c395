import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// Subscriptions: the books of `payments` to look into, and its routes to act through.
extension StoreDesk {
    /// A page of subscriptions.
    func subscriptions(_ query: SubscriptionPageQuery) async throws -> SubscriptionListing {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try SubscriptionListStore.page(query, on: $0)
        }
    }

    /// A subscription, and the story of its first transaction, which tells its whole life.
    func subscription(_ id: TransactionID) async throws -> (ListedSubscription, Story) {
        (try await listed(id), try await story(of: id))
    }

    /// A subscription as the books have it.
    ///
    /// - Throws: ``ConsoleProblem`` if there is no such subscription; `OperatorError` if the database
    ///   cannot be read.
    func listed(_ id: TransactionID) async throws -> ListedSubscription {
        let found = try await DatabaseReader.read(databases.address(of: .payments)) {
            try SubscriptionListStore.subscription(id, on: $0)
        }
        guard let found else {
            throw ConsoleProblem(
                404,
                "There is no such subscription",
                "A subscription has the id of its first transaction. None has \(id)."
            )
        }
        return found
    }

    /// Turns the renewal of a subscription on or off.
    func setAutoRenew(
        _ isOn: Bool,
        of id: TransactionID,
        reason: ActReason,
        token: String
    ) async throws {
        _ = try await connection(to: .payments, token: token).send(
            .PUT,
            Routes.adminAutoRenew(id),
            .json(AutoRenewRequest(isOn: isOn, reason: reason))
        )
    }

    /// Charges for the period that a subscription owes, without waiting for its next time.
    ///
    /// Choosing the running product again asks for that.
    func chargeOwed(
        _ subscription: Subscription,
        reason: ActReason,
        token: String
    ) async throws {
        let product = subscription.product.id
        _ = try await connection(to: .payments, token: token).send(
            .PUT,
            Routes.adminSubscriptionProduct(subscription.id),
            .json(SubscriptionProductRequest(productID: product, reason: reason))
        )
    }

    /// Has a sandbox charge for a subscription now: for what is owed, or for the next period.
    ///
    /// The next period is charged once for a key. What is owed can be paid only once.
    func charge(
        _ charge: SubscriptionAct,
        of id: TransactionID,
        key: IdempotencyKey,
        token: String
    ) async throws {
        let path = charge == .retry ? Routes.testResolution(id) : Routes.testRenewal(id)
        let content = StoreConnection.Content(headers: [("Idempotency-Key", key.rawValue)])
        _ = try await connection(to: .payments, token: token).send(.POST, path, content)
    }
}

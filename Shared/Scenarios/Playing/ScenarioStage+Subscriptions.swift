import EventTypes
import NIOHTTP1
import PaymentQueue
import StoreAPI

/// The decisions of buyers about their subscriptions.
extension ScenarioStage {
    /// Turns the renewal of a subscription on or off.
    func setAutoRenew(_ isOn: Bool, of payment: PlayedPayment, refused: String?) async throws {
        let id = try await connection.subscriptionID(of: payment)
        try await ask(
            Routes.autoRenew(id),
            AutoRenewRequest(isOn: isOn),
            by: .account(payment.account),
            method: .PUT,
            refused: refused
        )
    }

    /// Chooses the product of a subscription's next period.
    func choose(
        _ product: ProductID,
        for payment: PlayedPayment,
        refused: String?
    ) async throws {
        let id = try await connection.subscriptionID(of: payment)
        try await ask(
            Routes.subscriptionProduct(id),
            SubscriptionProductRequest(productID: product),
            by: .account(payment.account),
            method: .PUT,
            refused: refused
        )
    }

    /// Sets what a test has the sandbox do with an account.
    func carryOut(_ test: ScenarioTest) async throws {
        var settings = TestSettingsDocument(bundleID: connection.store.bundleID)
        settings.hasGracePeriod = test.hasGracePeriod
        settings.declinesRenewals = test.declinesRenewals
        try await connection.send(
            .PUT,
            connection.store.addresses.payments
                + Routes.testSettings(try cast.account(test.account)),
            by: .administrator,
            settings
        )
    }
}

extension ScenarioConnection {
    /// The transaction of a payment as `payments` has it now.
    func transaction(of payment: PlayedPayment) async throws -> EventTypes.Transaction {
        try await send(
            .GET,
            store.addresses.payments + Routes.transaction(try payment.accepted),
            by: .account(payment.account),
            as: TransactionResponse.self
        ).transaction
    }

    /// The id of the subscription that a payment belongs to.
    ///
    /// A payment belongs to it once it is charged.
    func subscriptionID(of payment: PlayedPayment) async throws -> TransactionID {
        try await wait.until("'\(payment.name)' to be charged") {
            let transaction = try await self.transaction(of: payment)
            switch transaction.state {
            case .purchased: return transaction.originalID
            case .failed: throw StepFailure("'\(payment.name)' has failed")
            default: return nil
            }
        }
    }

    /// The subscription that a payment belongs to.
    func subscription(of payment: PlayedPayment) async throws -> Subscription {
        try await send(
            .GET,
            store.addresses.payments + Routes.subscription(try await subscriptionID(of: payment)),
            by: .account(payment.account),
            as: SubscriptionResponse.self
        ).subscription
    }

    /// The transactions of the periods that were paid of a payment's subscription, in their order.
    func periods(of payment: PlayedPayment) async throws -> [EventTypes.Transaction] {
        let id = try await subscriptionID(of: payment)
        var transactions: [EventTypes.Transaction] = []
        var after: Int64?
        repeat {
            let page = try await send(
                .GET,
                store.addresses.fulfillment + Routes.history + (after.map { "?after=\($0)" } ?? ""),
                by: .account(payment.account),
                as: HistoryResponse.self
            )
            transactions += page.transactions.map(\.transaction)
            after = page.next
        } while after != nil
        return transactions.filter {
            // An offer for the running product is redeemed by a copy, which pays for nothing.
            $0.originalID == id && $0.state == .purchased && !$0.reason.isCopy
        }.sorted { $0.id < $1.id }
    }
}

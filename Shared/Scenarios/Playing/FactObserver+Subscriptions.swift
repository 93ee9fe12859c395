import EventTypes
import NIOHTTP1
import PaymentQueue
import StoreAPI

/// Facts about subscriptions.
extension FactObserver {
    /// A member of the subscription that a payment belongs to.
    mutating func subscription(_ payment: String, _ field: String) async throws -> ScenarioValue {
        if field == "paid" {
            return .text("\(try await connection.periods(of: cast.payment(payment)).count)")
        }
        let subscription = try await subscription(payment)
        switch field {
        case "state": return .text(Self.word(for: subscription.state))
        case "product": return .text(cast.name(of: subscription.product.id))
        case "next":
            return subscription.nextProduct.map { .text(cast.name(of: $0.id)) } ?? .nothing
        case "autoRenew": return .text("\(subscription.isAutoRenewOn)")
        case "period": return .text("\(subscription.period.number)")
        case "price": return .text(subscription.period.price.description)
        case "offer":
            return subscription.period.offer?.id.map { ScenarioValue.text($0.rawValue) } ?? .nothing
        case "increase":
            return subscription.priceIncrease.map { ScenarioValue.text($0.status.rawValue) }
                ?? .nothing
        default: return .nothing
        }
    }

    /// An end of the subscription that a payment belongs to.
    mutating func end(_ end: ScenarioPeriodEnd, of payment: String) async throws -> ScenarioValue {
        let subscription = try await subscription(payment)
        let time: StoreTime
        switch end.kind {
        case .ends: time = subscription.period.effectiveEnd
        case .ownedUntil:
            let ends = try await entitlements(of: subscription.accountID).entitlements.filter {
                $0.originalTransactionID == subscription.id && $0.revokedAt == nil
            }.compactMap(\.endsAt)
            guard let last = ends.max() else { return .nothing }
            time = last
        }
        return .text(end.text(from: subscription.startedAt, to: time))
    }

    private mutating func subscription(_ payment: String) async throws -> Subscription {
        if let known = subscriptions[payment] { return known }
        let subscription = try await connection.subscription(of: cast.payment(payment))
        subscriptions[payment] = subscription
        return subscription
    }

    /// The products that an account owns now.
    ///
    /// A subscription gives a product until a time.
    func owned(by account: AccountID) async throws -> [String] {
        let entitlements = try await entitlements(of: account).entitlements
            .filter { $0.revokedAt == nil }
        guard entitlements.contains(where: { $0.endsAt != nil }) else {
            return entitlements.map { cast.name(of: $0.productID) }
        }
        let now = try await connection.storeTime()
        return entitlements.filter { $0.endsAt.map { now < $0 } ?? true }
            .map { cast.name(of: $0.productID) }
    }

    /// Reads an account's entitlements.
    func entitlements(of account: AccountID) async throws -> EntitlementsResponse {
        try await connection.send(
            .GET,
            connection.store.addresses.fulfillment + Routes.entitlements,
            by: .account(account),
            as: EntitlementsResponse.self
        )
    }

    private static func word(for state: SubscriptionState) -> String {
        switch state {
        case .inGracePeriod: "grace"
        case .inBillingRetryPeriod: "retry"
        default: state.rawValue
        }
    }
}

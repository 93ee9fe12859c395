import EventTypes
import Foundation
import Messaging
import Postgres
import ServiceKit
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// A subscription of one month for 2.99 USD.
func club(
    _ id: String = "club",
    level: Int = 1,
    period: SubscriptionPeriod = SubscriptionPeriod(1, .month),
    price: Money = usd(299),
    version: Int = 1,
    offer: OfferTerms? = nil,
    promotional: [PromotionalOffer] = [],
    winBack: [WinBackOffer] = []
) -> Product {
    var club = product(id, .autoRenewableSubscription, price: price, version: version)
    club.deliveryPlan = [.entitlement]
    club.isRestorable = true
    club.subscription = SubscriptionTerms(
        groupID: SubscriptionGroupID(unchecked: "clubs"),
        level: level,
        period: period
    )
    club.introductoryOffer = offer
    club.promotionalOffers = promotional
    club.winBackOffers = winBack
    return club
}

/// Three months for 0.99 USD each.
let threeMonths = OfferTerms(
    mode: .payAsYouGo,
    period: SubscriptionPeriod(1, .month),
    numberOfPeriods: 3,
    prices: [Storefront(unchecked: "USA"): usd(99)]
)

/// A week for nothing.
let freeWeek = OfferTerms(
    mode: .freeTrial,
    period: SubscriptionPeriod(1, .week),
    prices: [Storefront(unchecked: "USA"): usd(0)]
)

extension Store {
    /// The transaction that has the introductory offer of alice.
    func introductoryID() async throws -> TransactionID? {
        try await subscriptionRow()?.introductoryID
    }

    /// The subscription of alice.
    func subscription() async throws -> Subscription {
        try #require(try await subscriptionRow()?.subscription)
    }

    func subscriptionRow() async throws -> SubscriptionRow? {
        let key = SubscriptionKey(
            accountID: alice.accountID,
            bundleID: alice.bundleID,
            groupID: SubscriptionGroupID(unchecked: "clubs")
        )
        return try await client.withConnection { connection in
            try connection.read(SubscriptionStore.reading([key])).first
        }
    }

    /// The numbers of running, unpaid and late subscriptions.
    func subscriptionCounts() async throws -> SubscriptionCounts {
        try await SubscriptionCountStore(client: client).counts(at: clock.now())
    }

    /// The times of the oldest open work of each kind.
    func dueWork() async throws -> [DueWork: StoreTime] {
        try await client.withConnection { try DueSubscriptionStore.next(on: $0) }
    }

    /// Carries out everything that is due now, and the charges that follow.
    func renew() async throws {
        while try await renewals.carryOut(limit: 10) > 0 { try await settle() }
    }

    /// Advances the clock as the store's clock advances: it stops wherever something is due.
    func advance(days: Int) async throws {
        let target = clock.now().advanced(by: .seconds(days * 86_400))
        while clock.now() < target {
            try await renew()
            let times = try await dueWork().values
            let next = min(times.min() ?? target, target)
            clock.advance(by: max(.milliseconds(1), next.duration(since: clock.now())))
        }
        try await renew()
    }

    /// The transactions of alice, in the order of their ids.
    func transactions() async throws -> [Transaction] {
        let ids = try await client.withConnection { connection in
            try connection.query("SELECT id FROM transactions ORDER BY id").map {
                TransactionID(number: try $0.decode(Int64.self))
            }
        }
        var transactions: [Transaction] = []
        for id in ids { transactions.append(try await load(id)) }
        return transactions
    }

    /// The changes of subscriptions that were published, in their order.
    func subscriptionChanges() async throws -> [SubscriptionChanged] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT unpacked_json(data) FROM outbox
                WHERE type = 'subscription.changed.v1' ORDER BY position
                """
            ).map { row in
                let json = try row.decode(String.self)
                return try EventCoding.decode(SubscriptionChanged.self, from: Array(json.utf8))
            }
        }
    }

    /// The findings of the audit in the books of alice's subscription.
    func auditFindings() async throws -> [AuditFinding] {
        let changes = try await subscriptionChanges()
        let paid = try await transactions().filter { $0.subscription != nil }
        let subscription = try await subscription()
        let machine = context.subscriptions
        var history = SubscriptionHistory(subscription: subscription)
        history.changes = changes.compactMap { change in
            var plan = SubscriptionPlan(subscription: change.subscription, cause: change.cause)
            if change.transactionID != nil { plan.newPeriod = change.subscription.period }
            plan.changedPeriods = change.changedPeriods ?? []
            plan.refunds = plan.changedPeriods.compactMap { period in
                let refunded = paid.first { $0.id == period.transactionID }?.refundedAmount
                guard let refunded, !refunded.isZero, change.cause == .upgraded else { return nil }
                return SubscriptionPlan.OwedRefund(
                    transactionID: period.transactionID,
                    amount: refunded
                )
            }
            return SubscriptionHistory.Change(plan, at: change.changedAt)
        }
        history.captures = paid.filter { $0.state == .purchased && !$0.price.isZero }.map {
            SubscriptionHistory.Capture(transactionID: $0.id, amount: $0.price)
        }
        history.refunds = paid.flatMap { transaction in
            (transaction.refunds ?? []).map {
                SubscriptionHistory.Refund(transactionID: transaction.id, amount: $0.amount)
            }
        }
        history.sent = changes.flatMap { change in
            change.cause.notifications(of: change.subscription).map {
                SubscriptionHistory.Sent(
                    version: change.subscription.version,
                    notification: $0
                )
            }
        }
        history.actions = [machine.dueActions.next(for: subscription)].compactMap(\.self)
        history.openCharges = [subscription.charge?.key].compactMap(\.self)
        history.entitlementEnd = subscription.entitlementEnd
        history.introductions = paid.filter {
            $0.subscription?.beginsIntroductoryOffer == true && $0.state != .failed
        }.map(\.id)
        history.introducedBy = try await introductoryID()
        return SubscriptionAudit(policy: machine.policy).findings(in: history, at: clock.now())
    }
}

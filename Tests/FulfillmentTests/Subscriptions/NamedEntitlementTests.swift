import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import StoreAPI
import TestSupport
import Testing

@testable import Fulfillment

/// The entitlements of an account, by the names that the catalog gives them.
@Suite(.timeLimit(.minutes(10))) struct NamedEntitlementTests {
    private static let pro = EntitlementName(unchecked: "pro")
    private static let hour = Duration.seconds(3600)

    private static func owned(
        _ number: Int64,
        _ names: [String] = ["pro"],
        endsAt: StoreTime? = nil,
        isRevoked: Bool = false
    ) -> OwnedEntitlement {
        OwnedEntitlement(
            entitlement: Entitlement(
                productID: ProductID(unchecked: "product\(number)"),
                originalTransactionID: TransactionID(number: number),
                grantedAt: startOfTime,
                revokedAt: isRevoked ? startOfTime : nil,
                endsAt: endsAt
            ),
            transactionID: TransactionID(number: number),
            names: names.map(EntitlementName.init(unchecked:))
        )
    }

    private static func inForce(
        _ owned: OwnedEntitlement...,
        at time: StoreTime = startOfTime
    ) -> [String] {
        NamedEntitlementRules.inForce(owned, at: time).map {
            "\($0.name) by \($0.transactionID)"
        }
    }

    private static func change(_ version: Int, _ names: [String]) throws -> ReceivedEvent {
        let product = Product(
            id: Transaction.sample(1, plan: [.entitlement]).productID,
            version: version,
            type: .nonConsumable,
            isOnSale: true,
            isRestorable: true,
            prices: [:],
            localizations: [:],
            deliveryPlan: [.entitlement],
            entitlements: names.map(EntitlementName.init(unchecked:))
        )
        return ReceivedEvent(
            id: EventID(time: startOfTime),
            type: .productChanged,
            topic: Topics.catalogProducts.name,
            key: product.id.rawValue,
            subject: product.id.rawValue,
            time: startOfTime,
            data: try EventCoding.encode(ProductChanged(product: product))
        )
    }

    @Test func theLatestEndCounts() {
        let soon = Self.owned(1, endsAt: startOfTime.advanced(by: Self.hour))
        let late = Self.owned(2, endsAt: startOfTime.advanced(by: Self.hour + Self.hour))
        #expect(Self.inForce(soon, late) == ["pro by 2"])
        #expect(Self.inForce(late, soon) == ["pro by 2"])
        // What has no end lasts longest.
        #expect(Self.inForce(late, Self.owned(3), soon) == ["pro by 3"])
    }

    @Test func whatIsRevokedOrOverGivesNothing() {
        let end = startOfTime.advanced(by: Self.hour)
        #expect(Self.inForce(Self.owned(1, isRevoked: true)).isEmpty)
        #expect(Self.inForce(Self.owned(1, endsAt: end), at: end).isEmpty)
        #expect(Self.inForce(Self.owned(1, endsAt: end)) == ["pro by 1"])
    }

    @Test func eachNameIsListedOnceInOrder() {
        let both = Self.owned(1, ["pro", "club"])
        #expect(Self.inForce(both, Self.owned(2, ["club"])) == ["club by 1", "pro by 1"])
        #expect(Self.inForce(Self.owned(1, [])).isEmpty)
    }

    @Test func aChangeOfTheCatalogCountsForEarlierPurchases() async throws {
        try await withFulfillment { store in
            try await store.arrive(Transaction.sample(1, plan: [.entitlement]))
            #expect(try await store.reads.entitlements(of: .sample()).named.isEmpty)
            try await store.arrive(events: [try Self.change(2, ["pro"])])
            // An older version that comes late changes nothing.
            try await store.arrive(events: [try Self.change(1, ["club"])])
            let named = try await store.reads.entitlements(of: .sample()).named
            #expect(named.map(\.name) == [Self.pro])
            #expect(named.map(\.transactionID) == [TransactionID(number: 1)])
            #expect(named.map(\.endsAt) == [nil])
            try await store.arrive(events: [try Self.change(3, [])])
            #expect(try await store.reads.entitlements(of: .sample()).named.isEmpty)
        }
    }

    @Test func everyPageHasTheNamesOfAll() async throws {
        try await withFulfillment { store in
            try await store.arrive(events: [try Self.change(2, ["pro"])])
            try await store.arrive(
                .sample(1),
                .sample(2, product: "other"),
                .sample(3, product: "other")
            )
            let newest = try await store.reads.entitlements(of: .sample(), limit: 2)
            #expect(newest.entitlements.map(\.originalTransactionID.number) == [2, 3])
            #expect(newest.next == TransactionID(number: 2))
            let oldest = try await store.reads.entitlements(
                of: .sample(),
                after: newest.next,
                limit: 2
            )
            #expect(oldest.entitlements.map(\.originalTransactionID.number) == [1])
            #expect(oldest.next == nil)
            for page in [newest, oldest] {
                #expect(page.named.map(\.transactionID) == [TransactionID(number: 1)])
            }
        }
    }

    /// Shares of a subscription that are over, run, and are taken away, of which the one that lasts
    /// longest is neither the first nor the last.
    @Test func theNamesOfManyPagesAreThoseOfOne() async throws {
        try await withFulfillment { store in
            try await store.arrive(events: [try Self.change(2, ["pro"])])
            for (number, hours) in [(1, 1), (2, 3), (3, 9), (4, 2)] {
                var share = Transaction.sample(Int64(number))
                share.reason = .familyShared
                share.sharedFrom = TransactionID(number: 9)
                share.subscription = TransactionPeriod(
                    terms: SubscriptionTerms(
                        groupID: SubscriptionGroupID(unchecked: "clubs"),
                        level: 1,
                        period: SubscriptionPeriod(1, .month)
                    ),
                    start: startOfTime,
                    end: startOfTime.advanced(by: .seconds(3600 * hours))
                )
                if number == 3 { share.revokedAt = startOfTime }
                try await store.arrive(share)
            }
            for (hours, transaction) in [(0, 2), (1, 2), (2, nil)] as [(Int, Int64?)] {
                store.clock.advance(by: .seconds(3600 * hours))
                let whole = try await store.reads.entitlements(of: .sample()).named
                let cut = try await store.reads.entitlements(of: .sample(), limit: 1).named
                #expect(whole.map(\.transactionID.number) == [transaction].compactMap { $0 })
                #expect(cut == whole)
            }
        }
    }

    @Test func aWebhookSaysWhatTheAccountMayUse() async throws {
        struct Body: Decodable {
            var entitlements: [NamedEntitlement]
        }
        try await withFulfillment { store in
            let shop = DeliveryTarget.webhook(url: "http://shop.example/hook")
            try await store.arrive(events: [try Self.change(1, ["pro"])])
            let purchase = Transaction.sample(1, plan: [.entitlement, shop])
            try await store.arrive(purchase)
            let webhook = try #require(
                try await store.webhooks.take(limit: 10, excluding: []).first
            )
            let body = try JSONDecoder().decode(Body.self, from: Data(webhook.body()))
            #expect(body.entitlements.map(\.name) == [Self.pro])
            // The refund takes it away.
            try await store.arrive(purchase.refunded())
            store.clock.advance(by: Self.hour)
            let refund = try #require(
                try await store.webhooks.take(limit: 10, excluding: []).first
            )
            let after = try JSONDecoder().decode(Body.self, from: Data(refund.body()))
            #expect(refund.refund == 1 && after.entitlements.isEmpty)
        }
    }
}

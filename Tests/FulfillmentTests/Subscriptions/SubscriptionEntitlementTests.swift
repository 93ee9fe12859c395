import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import StoreAPI
import Testing
import TestSupport

@testable import Fulfillment

/// The entitlements that subscriptions give their accounts, and their ends.
@Suite(.timeLimit(.minutes(10)))
struct SubscriptionEntitlementTests {
    private static let month = Duration.seconds(30 * 86_400)
    private static let end = startOfTime.advanced(by: month)
    private static let usd = Currency(unchecked: "USD")

    private static func period(
        _ number: Int,
        of product: String = "club",
        from start: StoreTime = startOfTime
    ) -> PaidPeriod {
        let price = Money(minorUnits: 299, currency: usd)
        return PaidPeriod(
            transactionID: TransactionID(number: Int64(number)),
            reason: number == 1 ? .purchase : .renewal,
            product: SubscriptionProduct(
                id: ProductID(unchecked: product),
                terms: SubscriptionTerms(
                    groupID: SubscriptionGroupID(unchecked: "clubs"),
                    level: 1,
                    period: SubscriptionPeriod(1, .month)
                ),
                price: price
            ),
            price: price,
            anchor: startOfTime,
            number: number,
            start: start,
            end: start.advanced(by: month)
        )
    }

    /// A subscription whose first period begins at the start of the tests.
    private static func subscription() -> Subscription {
        Subscription(
            accountID: QueueKey.sample().accountID,
            bundleID: QueueKey.sample().bundleID,
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: period(1)
        )
    }

    /// The subscription, renewed a day before the end of its first period.
    private static func renewed(with product: String = "club") -> Subscription {
        var renewed = subscription()
        renewed.version = 2
        renewed.earlierPeriod = renewed.period
        renewed.period = period(2, of: product, from: end)
        return renewed
    }

    private func entitlement(
        to product: String = "club",
        of subscription: Subscription,
        at time: StoreTime = startOfTime
    ) -> Entitlement? {
        SubscriptionEntitlementRules.entitlement(
            Entitlement(
                productID: ProductID(unchecked: product),
                originalTransactionID: subscription.id,
                grantedAt: startOfTime
            ),
            of: subscription,
            at: time
        )
    }

    private func event(_ subscription: Subscription) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: startOfTime),
            type: .subscriptionChanged,
            topic: Topics.paymentsTransactions.name,
            key: subscription.accountID.rawValue,
            subject: subscription.id.rawValue,
            time: startOfTime,
            data: try EventCoding.encode(
                SubscriptionChanged(
                    subscription: subscription,
                    cause: .purchased,
                    changedAt: startOfTime,
                    environment: StoreEnvironment.sandbox.rawValue
                )
            )
        )
    }

    private func transaction(_ number: Int64, _ period: PaidPeriod) -> Transaction {
        var transaction = Transaction.sample(number, product: period.product.id.rawValue)
        transaction.originalID = TransactionID(number: 1)
        transaction.reason = number == 1 ? .purchase : .renewal
        transaction.productType = .autoRenewableSubscription
        transaction.subscription = TransactionPeriod(
            terms: period.product.terms,
            start: period.start,
            end: period.end
        )
        return transaction
    }

    @Test func anEntitlementEndsWithItsPeriod() {
        #expect(entitlement(of: Self.subscription())?.endsAt == Self.end)
        #expect(entitlement(of: Self.renewed())?.endsAt == Self.end.advanced(by: Self.month))
    }

    @Test func aGracePeriodProlongsTheEntitlement() {
        var grace = Self.subscription()
        grace.state = .inGracePeriod
        grace.gracePeriodEnd = Self.end.advanced(by: .seconds(86_400))
        #expect(entitlement(of: grace)?.endsAt == grace.gracePeriodEnd)
        grace.state = .inBillingRetryPeriod
        grace.gracePeriodEnd = nil
        #expect(entitlement(of: grace)?.endsAt == Self.end)
    }

    @Test func aRefundTakesTheEntitlementAway() {
        var revoked = Self.subscription()
        revoked.state = .revoked
        let time = startOfTime.advanced(by: .seconds(60))
        revoked.period.earlyEnd = EarlyEnd(time: time, reason: .refunded)
        #expect(entitlement(of: revoked)?.revokedAt == time)
        #expect(entitlement(of: revoked)?.endsAt == time)
    }

    @Test func aScheduledProductBeginsWithItsPeriod() {
        let changed = Self.renewed(with: "lower")
        #expect(entitlement(of: changed)?.endsAt == Self.end)
        #expect(entitlement(to: "lower", of: changed) == nil)
        let later = entitlement(to: "lower", of: changed, at: Self.end)
        #expect(later?.endsAt == Self.end.advanced(by: Self.month))
        // The product of a period that is not stored any more ended before.
        #expect(entitlement(to: "older", of: changed)?.endsAt == startOfTime)
    }

    @Test func entitlementsFollowTheNewestVersion() async throws {
        try await withFulfillment { store in
            try await store.arrive(transaction(1, Self.period(1)))
            // Until the subscription arrives, the transaction's own period counts.
            let early = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(early.map(\.endsAt) == [Self.end])
            let renewed = Self.renewed()
            try await store.arrive(events: [event(renewed), event(Self.subscription())])
            try await store.arrive(events: [event(Self.subscription())])
            let late = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(late.map(\.endsAt) == [renewed.period.end])
            try await store.arrive(transaction(2, renewed.period))
            #expect(try await store.reads.entitlements(of: .sample()).entitlements == late)
        }
    }

    @Test func theRunningPeriodIsWhatTheAccountOwns() async throws {
        try await withFulfillment { store in
            let renewed = Self.renewed()
            try await store.arrive(transaction(1, Self.period(1)))
            try await store.arrive(transaction(2, renewed.period))
            try await store.arrive(events: [event(renewed)])
            func owned() async throws -> [Int64] {
                try await store.reads.entitlementTransactions(
                    in: .sample(),
                    after: 0,
                    limit: 9
                ).changes.map(\.transactionID.number)
            }
            #expect(try await owned() == [1])
            store.clock.advance(by: Self.month)
            #expect(try await owned() == [2])
            store.clock.advance(by: Self.month)
            #expect(try await owned() == [])
        }
    }

    /// Its own dates count, and not those of its first period, which is over.
    @Test func aRenewedSubscriptionIsNamedOnEveryPage() async throws {
        try await withFulfillment { store in
            try await store.client.withConnection { connection in
                try connection.execute(
                    "INSERT INTO products VALUES ('club', 1, '[\"pro\"]')"
                )
            }
            let renewed = Self.renewed()
            try await store.arrive(transaction(1, Self.period(1)))
            try await store.arrive(events: [event(renewed)])
            try await store.arrive(.sample(5), .sample(6))
            store.clock.advance(by: Self.month)
            let page = try await store.reads.entitlements(of: .sample(), limit: 1)
            #expect(page.entitlements.map(\.originalTransactionID.number) == [6])
            #expect(page.named.map(\.name.rawValue) == ["pro"])
            #expect(page.named.map(\.endsAt) == [renewed.period.end])
            store.clock.advance(by: Self.month)
            let later = try await store.reads.entitlements(of: .sample(), limit: 1)
            #expect(later.named.isEmpty, "it was not renewed again")
        }
    }

    /// It has no subscription that could say so.
    @Test func aPeriodThatAFamilySharesIsTakenAwayByItself() async throws {
        try await withFulfillment { store in
            var share = transaction(1, Self.period(1))
            share.reason = .familyShared
            share.sharedFrom = TransactionID(number: 9)
            try await store.arrive(share)
            let given = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(given.map(\.endsAt) == [Self.end] && given.map(\.revokedAt) == [nil])
            share.version = 3
            share.revokedAt = startOfTime
            try await store.arrive(share)
            let taken = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(taken.map(\.revokedAt) == [startOfTime])
        }
    }

    @Test func aSharedPeriodThatComesWithItsEndKeepsTheEndOfThePeriod() async throws {
        try await withFulfillment { store in
            var share = transaction(1, Self.period(1))
            share.reason = .familyShared
            share.sharedFrom = TransactionID(number: 9)
            var revoked = share
            revoked.version = 3
            revoked.revokedAt = startOfTime
            try await store.arrive(share, revoked)
            let taken = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(taken.map(\.endsAt) == [Self.end] && taken.map(\.revokedAt) == [startOfTime])
        }
    }

    /// A period that a family shares, under the id of the first share.
    private func share(_ number: Int64, _ period: PaidPeriod, version: Int = 1) -> Transaction {
        var share = transaction(number, period)
        share.reason = .familyShared
        share.sharedFrom = TransactionID(number: number + 100)
        share.originalID = TransactionID(number: 1)
        share.version = version
        share.subscription?.shared = TransactionPeriod.Shared(began: .purchased, state: .active)
        return share
    }

    @Test func aSharedPeriodThatMovesEndsAtItsNewEnd() async throws {
        try await withFulfillment { store in
            func ends() async throws -> [StoreTime?] {
                try await store.reads.entitlements(of: .sample()).entitlements.map(\.endsAt)
            }
            try await store.arrive(share(1, Self.period(1)))
            #expect(try await ends() == [Self.end])
            var extended = share(1, Self.period(1), version: 2)
            extended.subscription?.end = Self.end.advanced(by: .seconds(86_400))
            try await store.arrive(extended)
            #expect(try await ends() == [extended.subscription?.end])
            var grace = extended
            grace.version = 3
            grace.subscription?.shared?.gracePeriodEnd = Self.end.advanced(by: Self.month)
            try await store.arrive(grace)
            #expect(try await ends() == [Self.end.advanced(by: Self.month)])
            // An older version that comes late changes nothing.
            try await store.arrive(extended)
            #expect(try await ends() == [Self.end.advanced(by: Self.month)])
            extended.version = 4
            try await store.arrive(extended)
            #expect(try await ends() == [extended.subscription?.end])
        }
    }

    @Test func theSharesOfOneSubscriptionAreOneEntitlement() async throws {
        try await withFulfillment { store in
            let renewed = Self.renewed().period
            try await store.arrive(share(1, Self.period(1)))
            try await store.arrive(share(2, renewed))
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map(\.endsAt) == [renewed.end])
            #expect(owned.map(\.originalTransactionID.number) == [1])
            // The next period is taken back before it begins, and the running one counts again.
            var taken = share(2, renewed, version: 2)
            taken.revokedAt = startOfTime
            try await store.arrive(taken)
            let left = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(left.map(\.endsAt) == [Self.end] && left.map(\.revokedAt) == [nil])
        }
    }

    /// The one that counts may be on another page.
    @Test func onlyThePageOfTheShareThatCountsHasIt() async throws {
        try await withFulfillment { store in
            func pages() async throws -> [[StoreTime?]] {
                var (pages, after) = ([[StoreTime?]](), TransactionID?.none)
                repeat {
                    let page = try await store.reads.entitlements(
                        of: .sample(),
                        after: after,
                        limit: 1
                    )
                    pages.append(page.entitlements.map(\.endsAt))
                    after = page.next
                } while after != nil
                return pages
            }
            let renewed = Self.renewed().period
            try await store.arrive(share(1, Self.period(1)))
            try await store.arrive(share(2, renewed))
            try await store.arrive(.sample(3, product: "other"))
            #expect(try await pages() == [[nil], [renewed.end], [], []])
            var taken = share(2, renewed, version: 2)
            taken.revokedAt = startOfTime
            try await store.arrive(taken)
            #expect(try await pages() == [[nil], [], [Self.end], []])
        }
    }

    @Test func aRestoredShareGivesNothingThatOutlivesIt() async throws {
        try await withFulfillment { store in
            try await store.arrive(share(1, Self.period(1)))
            var copy = share(2, Self.period(1))
            copy.reason = .restore
            copy.state = .restored
            copy.subscription?.shared = nil
            try await store.arrive(copy)
            var taken = share(1, Self.period(1), version: 2)
            taken.revokedAt = startOfTime
            try await store.arrive(taken)
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map(\.revokedAt) == [startOfTime])
        }
    }

    @Test func theRefundOfAnOlderPeriodTakesNothingAway() async throws {
        try await withFulfillment { store in
            let renewed = Self.renewed()
            var first = transaction(1, Self.period(1))
            try await store.arrive(first)
            try await store.arrive(events: [event(renewed)])
            first.version = 3
            first.revokedAt = startOfTime
            try await store.arrive(first)
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map(\.revokedAt) == [nil])
        }
    }
}

import EventTypes
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

/// The pages of the projection of subscriptions.
@Suite(.timeLimit(.minutes(10))) struct SubscriptionPageTests {
    private static func begun(_ number: Int64) -> Subscription {
        let price = Money(minorUnits: 299, currency: Currency(unchecked: "USD"))
        return Subscription(
            accountID: QueueKey.sample().accountID,
            bundleID: QueueKey.sample().bundleID,
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: 3_000_000_000_000 + number),
                reason: .purchase,
                product: SubscriptionProduct(
                    id: ProductID(unchecked: "club"),
                    terms: SubscriptionTerms(
                        groupID: SubscriptionGroupID(unchecked: "clubs"),
                        level: 1,
                        period: SubscriptionPeriod(1, .month)
                    ),
                    price: price
                ),
                price: price,
                anchor: startOfTime,
                number: 1,
                start: startOfTime,
                end: startOfTime.advanced(by: .seconds(30 * 86_400))
            )
        )
    }

    @Test func aRenewalLeavesThePageAndTheIndexesOfItsSubscription() async throws {
        // So many fill several pages, as far as pages are filled.
        let begun = (Int64(1)...100).map(Self.begun)
        var changed = begun[0]
        changed.version = 2
        changed.earlierPeriod = changed.period
        changed.period.number = 2
        let renewed = changed
        try await withFulfillment { store in
            try await store.client.withTransaction { connection in
                try SubscriptionProjectionStore.save(begun, on: connection)
            }
            let updates = try await store.client.withTransaction { connection -> [Int64] in
                try SubscriptionProjectionStore.save([renewed], on: connection)
                let rows = try connection.query(
                    """
                    SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables
                    WHERE relname = 'subscriptions'
                    """
                )
                guard let row = rows.first else { return [] }
                let (all, withoutIndexes) = try row.decode(Int64.self, Int64.self)
                return [all, withoutIndexes]
            }
            #expect(updates == [1, 1], "one update, which leaves the indexes")
        }
    }
}

import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The lists of subscriptions, page by page.
@Suite(.timeLimit(.minutes(10)))
struct SubscriptionListTests {
    private static let states: [SubscriptionState] = [
        .active, .expired, .inGracePeriod, .active, .inBillingRetryPeriod, .active,
    ]

    /// The columns that the list reads, as `payments` has them.
    private static let table = PostgresMigration(
        name: "m0001_subscriptions",
        sql: """
            CREATE TABLE subscriptions (
                account_id text, bundle_id text, group_id text, id bigint UNIQUE, state text,
                data json, due_at timestamptz, PRIMARY KEY (account_id, bundle_id, group_id));
            """
    )

    private static func subscription(_ number: Int) -> Subscription {
        let usd = Currency(unchecked: "USD")
        let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        let product = SubscriptionProduct(
            id: ProductID(unchecked: "club"),
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            price: Money(minorUnits: 299, currency: usd)
        )
        var subscription = Subscription(
            accountID: AccountID(unchecked: "buyer\(number)"),
            bundleID: BundleID(unchecked: "com.example.app"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: Int64(number)),
                reason: .purchase,
                product: product,
                price: product.price,
                anchor: start,
                number: 1,
                start: start,
                end: start.advanced(by: .seconds(30 * 86_400))
            )
        )
        subscription.state = states[number - 1]
        return subscription
    }

    private func ids(
        _ query: SubscriptionPageQuery,
        lookedAtMax: Int64 = 10_000
    ) async throws -> (ids: [Int64], next: Int64?) {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.table]
        ) { database in
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    for number in 1...Self.states.count {
                        let subscription = Self.subscription(number)
                        _ = try connection.execute(
                            """
                            INSERT INTO subscriptions VALUES (\(subscription.accountID), 'app', 'clubs',
                                \(subscription.id.number), \(subscription.state.rawValue),
                                \(try PostgresJSON(encoding: subscription)), NULL)
                            """
                        )
                    }
                    let page = try SubscriptionListStore.page(
                        query,
                        lookedAtMax: lookedAtMax,
                        on: connection
                    )
                    return (
                        page.subscriptions.map(\.subscription.id.number), page.next?.number
                    )
                }
            }
        }
    }

    @Test func theNewestComeFirstInPages() async throws {
        let first = try await ids(.init(limit: 4))
        #expect(first.ids == [6, 5, 4, 3] && first.next == 3)
        let second = try await ids(.init(before: TransactionID(number: 3), limit: 4))
        #expect(second.ids == [2, 1] && second.next == nil)
    }

    @Test func oneStateOrOneAccountIsListed() async throws {
        #expect(try await ids(.init(state: .inGracePeriod)).ids == [3])
        #expect(try await ids(.init(state: .active)).ids == [6, 4, 1])
        let account = AccountID(unchecked: "buyer2")
        #expect(try await ids(.init(account: account)).ids == [2])
        #expect(try await ids(.init(account: account, state: .active)).ids.isEmpty)
    }

    @Test func aPageOfARareStateLooksAtALimitedNumber() async throws {
        let page = try await ids(.init(state: .expired), lookedAtMax: 3)
        #expect(page.ids.isEmpty && page.next == 4)
        let next = try await ids(
            .init(state: .expired, before: TransactionID(number: 4)),
            lookedAtMax: 3
        )
        #expect(next.ids == [2])
    }

    @Test func manyUnpaidOnesAreLookedForAmongAll() async throws {
        let few = try await ids(.init(state: .inGracePeriod), lookedAtMax: 2)
        #expect(few.ids == [3] && few.next == nil)
        let many = try await ids(.init(state: .inGracePeriod), lookedAtMax: 1)
        #expect(many.ids.isEmpty && many.next == 6, "it has looked at the newest one alone")
    }
}

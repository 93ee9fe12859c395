import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The things that an account has, from the tables of two services.
@Suite(.timeLimit(.minutes(10)))
struct AccountHoldingsTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let ada = AccountID(unchecked: "ada")

    /// The columns that are read, as `fulfillment` and `payments` have them.
    private static let tables = PostgresMigration(
        name: "m0001_holdings",
        sql: """
            CREATE TABLE entitlements (
                account_id text, bundle_id text, product_id text, original_transaction_id bigint,
                revoked_at timestamptz, ends_at timestamptz);
            CREATE TABLE subscriptions (
                id bigint PRIMARY KEY, account_id text, bundle_id text, data json);
            CREATE TABLE credit_balances (
                account_id text, bundle_id text, unit text, balance numeric);
            CREATE TABLE accounts (
                account_id text, bundle_id text, can_make_payments boolean, storefront text);
            CREATE TABLE purchase_intents (
                id text, account_id text, bundle_id text, product_id text, quantity integer,
                created_at timestamptz, ended_at timestamptz);
            CREATE TABLE family_members (account_id text, bundle_id text, family_id text);
            CREATE TABLE families (id text, bundle_id text, data json);
            """
    )

    private func withTables<R: Sendable>(
        _ rows: SQL,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_fulfillment") + [Self.tables]
        ) { database in
            try await database.withClient { client in
                try await client.withConnection { connection in
                    _ = try connection.execute(rows)
                    return try body(connection)
                }
            }
        }
    }

    @Test func whatWasTakenAwayOrHasEndedIsNotOwned() async throws {
        let (first, all) = try await withTables(
            """
            INSERT INTO entitlements VALUES
                ('ada', 'app', 'level', 1, NULL, NULL), ('ada', 'app', 'map', 2, now(), NULL),
                ('ada', 'app', 'old', 3, NULL, \(Self.now)),
                ('ada', 'app', 'pass', 4, NULL, \(Self.now.advanced(by: .seconds(60)))),
                ('eve', 'app', 'level', 5, NULL, NULL)
            """
        ) { connection in
            (
                try AccountHoldingsStore.owned(
                    by: Self.ada,
                    at: Self.now,
                    limit: 1,
                    on: connection
                ),
                try AccountHoldingsStore.owned(by: Self.ada, at: Self.now, on: connection)
            )
        }
        #expect(all.owned.map(\.productID.rawValue) == ["level", "pass"])
        #expect(all.owned.map { $0.endsAt != nil } == [false, true])
        #expect(!all.isCut && first.isCut && first.owned.count == 1)
    }

    @Test func whatHasEndedLeavesRoomForWhatIsOwned() async throws {
        let found = try await withTables(
            """
            INSERT INTO entitlements VALUES
                ('ada', 'app', 'club', 1, NULL, \(Self.now)),
                ('ada', 'app', 'club', 2, NULL, \(Self.now)),
                ('ada', 'app', 'club', 3, NULL, \(Self.now.advanced(by: .seconds(60))))
            """
        ) { connection in
            try AccountHoldingsStore.owned(by: Self.ada, at: Self.now, limit: 1, on: connection)
        }
        #expect(found.owned.map(\.originalID) == [TransactionID(number: 3)])
        #expect(!found.isCut)
    }

    @Test func balancesAreThoseOfTheAccountUnlessThereAreTooMany() async throws {
        let (all, first) = try await withTables(
            """
            INSERT INTO credit_balances VALUES ('ada', 'app', 'gems', 5),
                ('ada', 'app', 'coins', -70), ('eve', 'app', 'coins', 7)
            """
        ) { connection in
            (
                try AccountHoldingsStore.balances(of: Self.ada, limit: 2, on: connection),
                try AccountHoldingsStore.balances(of: Self.ada, limit: 1, on: connection)
            )
        }
        #expect(all.balances.map { "\($0.unit) \($0.amount)" } == ["coins -70", "gems 5"])
        #expect(!all.isCut)
        #expect(first.balances.map(\.unit) == ["coins"] && first.isCut)
    }

    @Test func onlyPurchasesThatWaitForTheAppAreRead() async throws {
        let intents = try await withTables(
            """
            INSERT INTO purchase_intents VALUES
                ('b', 'ada', 'app', 'level', 1, \(Self.now), NULL),
                ('a', 'ada', 'app', 'coins', 3, \(Self.now.advanced(by: .seconds(-60))), NULL),
                ('c', 'ada', 'app', 'map', 1, \(Self.now), \(Self.now)),
                ('d', 'eve', 'app', 'level', 1, \(Self.now), NULL)
            """
        ) { try AccountHoldingsStore.intents(of: Self.ada, on: $0) }
        #expect(intents.map(\.productID.rawValue) == ["coins", "level"])
        #expect(intents.map(\.quantity) == [3, 1])
        #expect(intents.last?.createdAt == Self.now)
    }

    @Test func anAppWithAStandingOrAFamilyIsNamed() async throws {
        let family = Family(
            id: FamilyID(unchecked: "0f8fad5b-d9cb-469f-a165-70867728950e"),
            bundleID: BundleID(unchecked: "game"),
            version: 1,
            organizer: Self.ada,
            members: [FamilyMember(accountID: Self.ada, joinedAt: Self.now)],
            createdAt: Self.now
        )
        let data = try PostgresJSON(encoding: family)
        let standings = try await withTables(
            """
            WITH family AS (INSERT INTO families VALUES (\(family.id), 'game', \(data))),
                member AS (INSERT INTO family_members VALUES ('ada', 'game', \(family.id)))
            INSERT INTO accounts VALUES ('ada', 'app', false, 'USA'), ('eve', 'app', true, NULL)
            """
        ) { try AccountHoldingsStore.standings(of: Self.ada, on: $0) }
        #expect(standings.map(\.bundleID.rawValue) == ["app", "game"])
        #expect(standings.map(\.canMakePayments) == [false, true])
        #expect(standings.map(\.storefront?.rawValue) == ["USA", nil])
        #expect(standings.map(\.family) == [nil, family])
    }
}

/// The dates of a subscription, by which its product is owned.
@Suite struct OwnedSubscriptionTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let club = ProductID(unchecked: "club")

    private static func subscription() -> Subscription {
        .club(TransactionID(number: 1), from: start, to: start.advanced(by: .seconds(1000)))
    }

    private static func owned(
        _ subscription: Subscription?,
        of product: ProductID = club,
        after seconds: Int
    ) -> AccountHoldings.Owned? {
        AccountHoldings.Owned(
            product,
            in: BundleID(unchecked: "app"),
            since: TransactionID(number: 1),
            until: start.advanced(by: .seconds(500)),
            of: subscription,
            at: start.advanced(by: .seconds(seconds))
        )
    }

    @Test func theSubscriptionSaysUntilWhen() {
        var subscription = Self.subscription()
        let owned = Self.owned(subscription, after: 600)
        #expect(owned?.endsAt == subscription.period.end && owned?.isRenewing == true)
        #expect(Self.owned(subscription, after: 1000) == nil, "it was not renewed")
        subscription.state = .inGracePeriod
        subscription.gracePeriodEnd = Self.start.advanced(by: .seconds(2000))
        let unpaid = Self.owned(subscription, after: 1500)
        #expect(unpaid?.endsAt == subscription.gracePeriodEnd)
        #expect(unpaid?.isRenewing == nil, "nobody knows whether it will be paid")
        subscription.state = .active
        subscription.autoRenewOffReason = .customer
        #expect(Self.owned(subscription, after: 600)?.isRenewing == false)
        #expect(Self.owned(subscription, of: ProductID(unchecked: "plus"), after: 600) == nil)
    }

    @Test func untilItArrivesTheFirstPeriodCounts() {
        let owned = Self.owned(nil, after: 499)
        #expect(owned != nil && owned?.isRenewing == nil)
        #expect(Self.owned(nil, after: 500) == nil)
    }
}

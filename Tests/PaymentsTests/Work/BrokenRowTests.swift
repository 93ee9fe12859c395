import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// A row that cannot be read or written, beside sound ones, on a real PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct BrokenRowTests {
    /// Runs a test on a store whose rows an administrator can break.
    private func withBreakableStore(
        _ body: @Sendable (Store, PostgresClient) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient(role: PaymentsMigrations.role, poolSize: 2) { client in
                let store = Store(client: client)
                try await store.sell(product())
                try await database.withClient(poolSize: 1) { administrator in
                    try await body(store, administrator)
                }
            }
        }
    }

    /// Makes a statement that breaks or mends rows.
    private static func run(_ statement: String, by administrator: PostgresClient) async throws {
        try await administrator.withConnection { connection in
            _ = try connection.execute("\(unsafe: statement)")
        }
    }

    /// A statement that lets PostgreSQL refuse each change of some rows, as if they were damaged.
    private static func damage(_ table: String, where condition: String) -> String {
        """
        DO $do$ BEGIN
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE 'missing chunk' USING ERRCODE = 'data_corrupted';
            END $$;
            CREATE TRIGGER refuse BEFORE UPDATE ON \(table) FOR EACH ROW
            WHEN (\(condition)) EXECUTE FUNCTION refuse();
        END $do$
        """
    }

    // MARK: - Attempts

    /// The ways to break the row of an attempt or of its transaction, with those to mend it.
    private static let attempts = [
        (
            "UPDATE processor_attempts SET act = '{}' WHERE transaction_id = ID",
            "UPDATE processor_attempts SET act = NULL WHERE transaction_id = ID"
        ),
        (
            "UPDATE transactions SET delivery_plan = '{}' WHERE id = ID",
            """
            UPDATE transactions SET delivery_plan = (
                SELECT delivery_plan FROM transactions ORDER BY id DESC LIMIT 1)
            """
        ),
        (
            damage("processor_attempts", where: "OLD.transaction_id = ID"),
            "DROP TRIGGER refuse ON processor_attempts"
        ),
    ]

    /// The broken one is due first, so it would be in every batch.
    @Test(arguments: attempts.indices)
    func aBrokenAttemptHoldsUpNoOther(index: Int) async throws {
        let (breaking, mending) = Self.attempts[index]
        try await withBreakableStore { store, administrator in
            let broken = try await store.add(request(), key: "a")
            store.clock.advance(by: .milliseconds(100))
            let sound = try await store.add(request(), key: "b")
            _ = store.pending.take()
            let id = "\(broken.id)"
            try await Self.run(breaking.replacing("ID", with: id), by: administrator)
            try await store.recover()
            #expect(try await store.load(sound.id).state == .purchased)
            #expect(store.runner.failed.current() == [broken.id])
            try await store.recover()
            #expect(try await store.count("sandbox_processor.charges") == 1, "it is left alone")
            try await Self.run(mending.replacing("ID", with: id), by: administrator)
            store.runner.failed.forget(broken.id)
            try await store.recover()
            #expect(try await store.load(broken.id).state == .purchased)
            #expect(try await store.count("sandbox_processor.charges") == 2)
        }
    }

    // MARK: - Families

    /// The members of the family with the broken purchase wait, and those of another do not.
    @Test func aBrokenPurchaseHoldsUpNoOtherFamily() async throws {
        try await withBreakableStore { store, administrator in
            try await store.sellFilm()
            _ = try await store.family("alice", "cleo")
            _ = try await store.family("bob", "dan")
            let broken = try await store.buy(request("film"), key: "a")
            let sound = try await store.buy(request("film"), key: "b", of: bob)
            try await Self.run(
                "UPDATE transactions SET delivery_plan = '{}' WHERE id = \(broken.id)",
                by: administrator
            )
            let handler = FamilyShareHandler(context: store.context, didCommit: {})
            while try await handler.carryOutNext() {}
            #expect(try await store.shares().map(\.accountID) == ["dan"])
            let left = handler.failed.current()
            #expect(left.map(\.accountID).sorted() == ["alice", "cleo"])
            #expect(try await store.count("family_work") > 0, "nothing is forgotten")
            try await Self.run(
                """
                UPDATE transactions SET delivery_plan = (
                    SELECT delivery_plan FROM transactions WHERE id = \(sound.id))
                """,
                by: administrator
            )
            for account in left { handler.failed.forget(account) }
            while try await handler.carryOutNext() {}
            #expect(try await store.shares().map(\.accountID) == ["cleo", "dan"])
            #expect(try await store.count("family_work") == 0)
        }
    }

    // MARK: - Higher prices

    /// The ways to break the row of bob's subscription, with those to mend it.
    private static let subscriptions = [
        (
            """
            UPDATE subscriptions SET data = ((data::jsonb - 'startedAt')
                || jsonb_build_object('lost', data -> 'startedAt'))::json
            WHERE account_id = 'bob'
            """,
            """
            UPDATE subscriptions SET data = ((data::jsonb
                || jsonb_build_object('startedAt', data -> 'lost')) - 'lost')::json
            WHERE account_id = 'bob'
            """
        ),
        (
            damage("subscriptions", where: "OLD.account_id = 'bob'"),
            "DROP TRIGGER refuse ON subscriptions"
        ),
    ]

    @Test(arguments: subscriptions.indices)
    func aBrokenSubscriptionHoldsUpNoNotice(index: Int) async throws {
        let (breaking, mending) = Self.subscriptions[index]
        try await withBreakableStore { store, administrator in
            try await store.sell(club())
            for name in ["alice", "bob", "carol", "dave"] {
                let account = AuthenticatedAccount(
                    accountID: AccountID(unchecked: name),
                    bundleID: alice.bundleID
                )
                try await store.buy(request("club", price: usd(299)), key: name, of: account)
            }
            try await Self.raise(store)
            try await Self.run(breaking, by: administrator)
            let handler = PriceEnrolmentHandler(
                context: store.context,
                didCommit: {},
                pageSize: 2,
                lookMax: 3
            )
            for _ in 0..<2 {
                let failures = try await handler.tell()
                #expect(failures.isEmpty, "\(failures)")
                let told = try await Self.told(store)
                #expect(told == ["alice", "carol", "dave"])
            }
            #expect(try await Self.isOpen(store), "the store's clock waits for it")
            let left = handler.failed.current()
            #expect(left.count == 1)
            try await Self.run(mending, by: administrator)
            for id in left { handler.failed.forget(id) }
            _ = try await handler.tell()
            #expect(try await Self.told(store) == ["alice", "carol", "dave", "bob"])
            #expect(try await !Self.isOpen(store))
        }
    }

    // MARK: - Extensions of all subscribers

    @Test(arguments: subscriptions.indices)
    func aBrokenSubscriptionHoldsUpNoExtension(index: Int) async throws {
        let (breaking, mending) = Self.subscriptions[index]
        try await withBreakableStore { store, administrator in
            try await store.sell(club())
            for name in ["alice", "bob", "carol", "dave"] {
                let account = AuthenticatedAccount(
                    accountID: AccountID(unchecked: name),
                    bundleID: alice.bundleID
                )
                try await store.buy(request("club", price: usd(299)), key: name, of: account)
            }
            let handler = MassExtensionHandler(
                context: store.context,
                products: ProductStore(),
                didCommit: {},
                pageSize: 2
            )
            let club = ProductID(unchecked: "club")
            let wanted = MassExtension(
                number: 0,
                bundleID: alice.bundleID,
                productID: club,
                requestIdentifier: "outage",
                days: 3,
                reasonCode: 3,
                storefronts: nil,
                acceptedAt: startTime
            )
            _ = try await handler.accept(wanted, by: nil, trace: .begin())
            try await Self.run(breaking, by: administrator)
            for _ in 0..<2 {
                let failures = try await handler.work()
                #expect(failures.isEmpty, "\(failures)")
                let open = try await handler.request("outage", of: club, in: alice.bundleID)
                #expect(open?.succeededCount == 3 && open?.failedCount == 0)
                #expect(open?.completedAt == nil, "one is not decided")
            }
            let left = handler.failed.current()
            #expect(left.count == 1)
            try await Self.run(mending, by: administrator)
            for id in left { handler.failed.forget(id) }
            _ = try await handler.work()
            let done = try await handler.request("outage", of: club, in: alice.bundleID)
            #expect(done?.succeededCount == 4 && done?.failedCount == 0)
            #expect(done?.completedAt != nil)
        }
    }

    /// Sells the club for more, also to those who have subscribed.
    private static func raise(_ store: Store) async throws {
        var dearer = club(version: 2)
        dearer.priceChanges[Storefront(unchecked: "USA")] = PriceChange(
            price: usd(349),
            from: store.clock.now().advanced(by: .seconds(40 * 86_400)),
            existingSubscribers: .raise
        )
        try await store.sell(dearer)
    }

    /// The accounts that were told of a higher price, in the order of the log.
    private static func told(_ store: Store) async throws -> [AccountID] {
        try await store.subscriptionChanges().filter { $0.cause == .priceIncreaseScheduled }
            .map(\.subscription.accountID)
    }

    /// Whether there is an enrolment of which somebody has to be told.
    private static func isOpen(_ store: Store) async throws -> Bool {
        try await store.client.withConnection { try PriceEnrolmentStore.oldest(on: $0) } != nil
    }
}

import EventTypes
import Postgres
import ServiceKit
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// The cost of a renewal in the database.
@Suite(.timeLimit(.minutes(10))) struct RenewalCostTests {
    /// Begins to renew the subscription of alice, and charges nothing.
    private func withBegunRenewal(
        _ body: @Sendable (Store, Transaction) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(club())
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            store.clock.advance(by: .seconds(30 * 86_400))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            let renewal = try #require(try await store.transactions().last)
            try await body(store, renewal)
        }
    }

    /// It is copied, looked up and sorted many times for each renewal.
    @Test func theRowOfASubscriptionIsSmall() {
        #expect(MemoryLayout<SubscriptionRow>.size <= 120)
    }

    /// One is found by its id, and the other, which has none in the table yet, by its place.
    @Test func aNewSubscriptionIsWrittenBesideAKnownOne() async throws {
        try await withBegunRenewal { store, renewal in
            let rules = store.context.subscriptions.dueActions
            let written = try await store.client.withTransaction {
                connection -> [SubscriptionRow] in
                let rows = try connection.read(SubscriptionStore.locking(ofRenewals: [renewal.id]))
                guard var known = rows.first, var copy = known.subscription else { return [] }
                let place = SubscriptionKey(
                    accountID: bob.accountID,
                    bundleID: known.key.bundleID,
                    groupID: known.key.groupID
                )
                try SubscriptionStore.open([place], on: connection)
                known.subscription?.attempts = 3
                copy.id = TransactionID(number: 7)
                copy.accountID = bob.accountID
                copy.charge = nil
                let new = SubscriptionRow(key: place, subscription: copy)
                try SubscriptionStore.save([known, new], by: rules, on: connection)
                return try connection.read(SubscriptionStore.reading([known.key, place]))
            }
            #expect(written.map(\.storedID) == [renewal.originalID.number, 7])
            #expect(written.map(\.subscription?.attempts) == [3, 1])
            #expect(written.map { $0.subscription?.charge == nil } == [false, true])
        }
    }

    /// The JSON of a change is made once for both.
    ///
    /// A charge that is begun is in the row alone.
    @Test func theRowOfAPaidRenewalIsAsItsEventTells() async throws {
        try await withBegunRenewal { store, _ in
            #expect(try await store.subscription().charge != nil)
            #expect(try await store.subscriptionChanges().map(\.cause) == [.purchased])
            try await store.settle()
            let told = try #require(try await store.subscriptionChanges().last)
            #expect(told.cause == .renewed)
            #expect(try await store.subscription() == told.subscription)
        }
    }

    /// If an index read what a settlement writes, every index would get a new entry for each renewal.
    @Test func aPaidRenewalLeavesTheIndexesOfItsTransaction() async throws {
        try await withBegunRenewal { store, renewal in
            // All updates of transactions by this session, and those that left the indexes.
            let updates = try await store.client.withTransaction { connection -> [Int64] in
                let known = try TransactionStore.load([renewal.id], on: connection)
                guard var paid = known[renewal.id] else { return [] }
                paid.transaction.version = 2
                paid.transaction.state = .purchased
                paid.transaction.purchasedAt = startTime
                paid.transaction.originalPurchasedAt = startTime
                paid.transaction.subscription?.start = startTime
                paid.transaction.subscription?.end = startTime.advanced(by: .seconds(86_400))
                try TransactionStore.update([paid], on: connection)
                let rows = try connection.query(
                    """
                    SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables
                    WHERE relname = 'transactions'
                    """
                )
                guard let row = rows.first else { return [] }
                let (all, withoutIndexes) = try row.decode(Int64.self, Int64.self)
                return [all, withoutIndexes]
            }
            #expect(updates.first ?? 0 > 0 && updates.first == updates.last)
        }
    }

    @Test func aRenewalIsTriedOnceWhateverBecomesOfIt() async throws {
        try await withBegunRenewal { store, renewal in
            let error = await #expect(throws: PostgresError.self) {
                try await store.client.withTransaction { connection in
                    let known = try TransactionStore.load([renewal.id], on: connection)
                    guard var copy = known[renewal.id] else { return }
                    copy.transaction.id = TransactionID(number: renewal.id.number + 1)
                    // The first one is paid meanwhile.
                    copy.transaction.subscription?.start = startTime
                    try TransactionStore.insert([copy], on: connection)
                }
            }
            #expect(error?.constraint == "a_renewal_is_tried_once")
        }
    }

    /// A settlement would lock it anyway, by another statement and another round trip.
    @Test func theSubscriptionOfARenewalIsFoundByItsID() async throws {
        try await withBegunRenewal { store, renewal in
            let rows = try await store.client.withTransaction { connection in
                try connection.read(SubscriptionStore.locking(ofRenewals: [renewal.id]))
            }
            #expect(rows.map(\.subscription?.id) == [renewal.originalID])
        }
    }

    @Test func aRenewalStaysInThePageOfItsSubscription() async throws {
        try await withStore { store in
            try await store.sell(club())
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            // Others fill the page, as far as pages are filled, and are due much later.
            try await store.client.withConnection { connection in
                _ = try connection.execute(
                    """
                    INSERT INTO subscriptions (account_id, bundle_id, group_id, id, version, state,
                        data, payment_method, due_at, due_kind, tries)
                    SELECT 'other-' || n, bundle_id, group_id, id + n, version, state, data,
                        payment_method, due_at + interval '10 years', due_kind, tries
                    FROM subscriptions, generate_series(1, 100) AS n
                    """
                )
            }
            let before = try await page(store)
            store.clock.advance(by: .seconds(30 * 86_400))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            #expect(try await page(store) == before)
        }
    }

    /// The number of the page that has the subscription of alice.
    private func page(_ store: Store) async throws -> Int64? {
        try await store.client.withConnection { connection in
            try connection.query(
                """
                SELECT (ctid::text::point)[0]::bigint FROM subscriptions
                WHERE account_id = 'alice'
                """
            ).first?.decode(Int64.self)
        }
    }
}

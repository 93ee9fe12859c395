import EventTypes
import Ledger
import Postgres
import ServiceKit
import StoreAPI
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Renewals: what is charged when, and what becomes of a subscription that cannot be charged.
@Suite struct RenewalTests {
    private static let month = Duration.seconds(31 * 86_400)

    /// Buys a subscription at the start.
    private func withSubscription(
        _ method: SandboxPaymentMethod = .success,
        _ body: @Sendable (Store, Transaction) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(club())
            let request = request("club", price: usd(299), method: method, username: "ada@1")
            try await body(store, store.buy(request, key: "1"))
        }
    }

    @Test func aRenewalIsATransactionOfItsOwn() async throws {
        try await withSubscription { store, bought in
            try await store.advance(days: 31)
            let all = try await store.transactions()
            #expect(all.count == 2)
            let renewal = try #require(all.last)
            #expect(renewal.state == .purchased && renewal.reason == .renewal)
            #expect(renewal.originalID == bought.id)
            #expect(renewal.originalPurchasedAt == bought.purchasedAt)
            #expect(renewal.subscription?.start == bought.subscription?.end)
            #expect(renewal.applicationUsername == "ada@1")
            // It is charged a day before the period ends.
            #expect(renewal.requestedAt == startTime.advanced(by: Self.month - .seconds(86_400)))
            #expect(try await store.postings(of: renewal.id) == [.purchase])
            #expect(try await store.count("sandbox_processor.charges") == 2)
            #expect(try await store.subscriptionChanges().map(\.cause) == [.purchased, .renewed])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theBeginningOfARenewalIsInTheLogAlone() async throws {
        try await withSubscription { store, _ in
            try await store.advance(days: 31)
            let topics = try await store.client.withConnection { connection in
                try connection.query(
                    """
                    SELECT topic FROM outbox WHERE type = 'transaction.purchasing.v1'
                    ORDER BY position
                    """
                ).map { try $0.decode(String.self) }
            }
            #expect(topics == [Topics.paymentsPurchasing.name, Topics.logOnly])
        }
    }

    @Test func aYearIsTwelveRenewals() async throws {
        try await withSubscription { store, bought in
            try await store.advance(days: 366)
            let all = try await store.transactions()
            #expect(all.count == 13)
            for (earlier, later) in zip(all, all.dropFirst()) {
                #expect(later.subscription?.start == earlier.subscription?.end)
            }
            #expect(try await store.booksBalance())
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func twoInstancesMakeOneCharge() async throws {
        try await withSubscription { store, _ in
            store.clock.advance(by: Self.month - .seconds(86_400))
            async let one = store.renewals.carryOut(limit: 10)
            async let other = store.renewals.carryOut(limit: 10)
            #expect(try await one + other == 1)
            try await store.settle()
            #expect(try await store.count("transactions") == 2)
        }
    }

    /// Rule S417: by time, rank and subscription.
    @Test func whatIsDueAtOneMomentIsTakenInOneOrder() async throws {
        try await withSubscription { store, _ in
            let taken = try await store.client.withTransaction { connection -> [String] in
                try connection.execute(
                    """
                    INSERT INTO subscriptions (account_id, bundle_id, group_id, id, version, state,
                        data, due_at, due_kind, tries)
                    SELECT name, bundle_id, group_id, id + number, version, state, data,
                        due_at + seconds * interval '1 second', kind, tries
                    FROM subscriptions, (VALUES
                        ('later-charge', 1, 1, 4), ('end', 2, 0, 5), ('third-charge', 4, 0, 4),
                        ('notice', 5, 0, 3), ('second-charge', 3, 0, 4)
                    ) AS other (name, number, seconds, kind)
                    """
                )
                let taken = try DueSubscriptionStore.take(
                    at: startTime.advanced(by: Self.month),
                    limit: 10,
                    on: connection
                )
                return taken.map(\.key.accountID.rawValue)
            }
            let expected = [
                "notice", "alice", "second-charge", "third-charge", "end", "later-charge",
            ]
            #expect(taken == expected)
        }
    }

    /// The broken one is due first, so it would be in every batch.
    @Test func anActionThatCannotBeCarriedOutHoldsUpNoOther() async throws {
        try await withSubscription { store, _ in
            try await store.client.withConnection { connection in
                _ = try connection.execute(
                    """
                    INSERT INTO subscriptions (account_id, bundle_id, group_id, id, version, state,
                        data, due_at, due_kind, tries)
                    SELECT 'broken', bundle_id, group_id, id + 1, version, state, '{}'::json,
                        due_at - interval '1 second', due_kind, tries
                    FROM subscriptions
                    """
                )
            }
            let due = try #require(try await store.dueWork().values.min())
            store.clock.advance(by: Self.month - .seconds(86_400))
            #expect(try await store.renewals.carryOut(limit: 10) == 2)
            try await store.settle()
            let reasons = try await store.transactions().map(\.reason)
            #expect(reasons == [.purchase, .renewal])
            #expect(try await store.renewals.carryOut(limit: 10) == 0, "it is left alone")
            #expect(try await store.dueWork().values.min() == due, "and is still due")
        }
    }

    /// PostgreSQL reports a row that is damaged on its disk so.
    @Test func aDamagedRowHoldsUpNoOther() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient(role: PaymentsMigrations.role, poolSize: 2) { client in
                let store = Store(client: client)
                try await store.sell(club())
                for account in [bob, alice] {
                    let key = account.accountID.rawValue
                    _ = try await store.buy(request("club", price: usd(299)), key: key, of: account)
                }
                try await database.withClient(poolSize: 1) { administrator in
                    try await administrator.withConnection { connection in
                        try connection.execute(
                            """
                            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                                RAISE 'missing chunk' USING ERRCODE = 'data_corrupted';
                            END $$
                            """
                        )
                        try connection.execute(
                            """
                            CREATE TRIGGER refuse BEFORE UPDATE ON subscriptions FOR EACH ROW
                            WHEN (OLD.account_id = 'bob') EXECUTE FUNCTION refuse()
                            """
                        )
                    }
                }
                store.clock.advance(by: Self.month - .seconds(3600))
                #expect(try await store.renewals.carryOut(limit: 10) == 2)
                let renewals = try await store.transactions().filter { $0.reason == .renewal }
                #expect(renewals.map(\.accountID) == [alice.accountID])
                #expect(try await store.renewals.carryOut(limit: 10) == 0, "it is left alone")
            }
        }
    }

    @Test func aDeclinedRenewalIsChargedAgainAndRecovers() async throws {
        try await withSubscription(.renewalRecovers) { store, bought in
            try await store.advance(days: 31)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            #expect(try await store.subscription().entitlementEnd == nil)
            let declined = try await store.transactions().dropFirst()
            #expect(declined.count == 4 && declined.allSatisfy { $0.state == .failed })
            try await store.advance(days: 1)
            let recovered = try #require(try await store.transactions().last)
            #expect(recovered.state == .purchased)
            #expect(recovered.subscription?.start == store.clock.now())
            #expect(try await store.subscription().state == .active)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .billingRetryBegan, .recovered])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aSubscriptionThatIsNeverPaidEndsAfterSixtyDays() async throws {
        try await withSubscription(.renewalDeclined) { store, _ in
            try await store.advance(days: 31 + 59)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            try await store.advance(days: 1)
            let ended = try await store.subscription()
            #expect(ended.state == .expired && ended.expirationIntent == .billingError)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .billingRetryBegan, .billingRetryEnded])
            #expect(try await store.count("transactions") == 1 + 4 + 14)
            #expect(try await store.auditFindings() == [])
            // After the end the account may buy again, and keeps the subscription's id.
            let again = try await store.buy(request("club", price: usd(299)), key: "2")
            #expect(again.originalID == ended.id && again.reason == .purchase)
            #expect(try await store.subscription().state == .active)
        }
    }

    @Test func whatIsUnpaidDueAndLateIsCounted() async throws {
        try await withSubscription(.renewalDeclined) { store, _ in
            var expected = SubscriptionCounts(running: 1, states: [.active: 1])
            #expect(try await store.subscriptionCounts() == expected)
            store.clock.advance(by: Self.month - .seconds(86_400))
            let due = store.clock.now()
            expected.renewalsDue = 1
            #expect(try await store.subscriptionCounts() == expected)
            store.clock.advance(by: .seconds(60))
            expected.late = 1
            expected.oldestLate = due
            #expect(try await store.subscriptionCounts() == expected)
            try await store.advance(days: 2)
            let unpaid = SubscriptionCounts(
                running: 1,
                states: [.active: 0, .inBillingRetryPeriod: 1]
            )
            #expect(try await store.subscriptionCounts() == unpaid)
        }
    }

    /// Reading an index of millions each minute would be most of the work of an idle store.
    @Test func theNumberOfManySubscriptionsIsEstimated() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient { client in
                try await client.withConnection { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO subscriptions (account_id, bundle_id, group_id, id, version, state,
                            data, due_at, due_kind, tries)
                        SELECT 'account-' || n, 'app', 'clubs', n, 1, 'active', '{}'::json,
                            '2100-01-01Z'::timestamptz, 4, 0
                        FROM generate_series(1, 20) AS n
                        """
                    )
                }
                var store = SubscriptionCountStore(client: client)
                #expect(try await store.counts(at: startTime).running == 20)
                store.exactMax = 5
                // Without an estimate there are more than were counted at least.
                #expect(try await store.counts(at: startTime).running >= 6)
                try await client.withConnection { try $0.execute("ANALYZE subscriptions") }
                #expect(try await store.counts(at: startTime).running == 20)
            }
        }
    }

    @Test func aBlockedAccountStillRenews() async throws {
        try await withSubscription { store, _ in
            try await store.say(canMakePayments: false)
            store.clock.advance(by: Self.month)
            _ = try await store.renewals.carryOut(limit: 10)
            // The process is killed before it charges. Another one finds the attempt.
            _ = store.pending.take()
            try await store.recover()
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.state == .purchased)
        }
    }

    @Test func aPriceIncreaseDoesNotChargeMore() async throws {
        try await withSubscription { store, _ in
            try await store.sell(club(price: usd(399), version: 2))
            try await store.advance(days: 31)
            #expect(try await store.transactions().last?.price == usd(299))
            try await store.sell(club(price: usd(199), version: 3))
            try await store.advance(days: 31)
            #expect(try await store.transactions().last?.price == usd(199))
            #expect(try await store.auditFindings() == [])
        }
    }

    /// Rule S14, row e20.
    @Test func aProductRenewsOffSaleAndEndsWithoutAPrice() async throws {
        try await withSubscription { store, _ in
            var product = club(version: 2)
            product.isOnSale = false
            try await store.sell(product)
            try await store.advance(days: 31)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])

            product.version = 3
            product.prices = [
                Storefront(unchecked: "FRA"): Money(
                    minorUnits: 349,
                    currency: Currency(unchecked: "EUR")
                )
            ]
            try await store.sell(product)
            try await store.advance(days: 31)
            #expect(try await store.transactions().count == 2)
            let ended = try await store.subscription()
            #expect(ended.state == .expired && ended.expirationIntent == .productUnavailable)
            let last = try #require(try await store.subscriptionChanges().last)
            #expect(last.cause == .productUnavailable)
            let notifications = last.cause.notifications(of: last.subscription)
            #expect(notifications == [SubscriptionNotification("EXPIRED", "PRODUCT_NOT_FOR_SALE")])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func anOutageIsChargedOnce() async throws {
        try await withSubscription { store, _ in
            // Nothing runs for half a year.
            store.clock.advance(by: .seconds(180 * 86_400))
            try await store.renew()
            let all = try await store.transactions()
            #expect(all.count == 2)
            #expect(all.last?.subscription?.start == store.clock.now())
            #expect(try await store.subscriptionChanges().last?.cause == .renewedLate)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theClockWaitsForAnOpenCharge() async throws {
        try await withSubscription { store, _ in
            store.clock.advance(by: Self.month - .seconds(86_400))
            let now = store.clock.now()
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            #expect(try await store.dueWork()[.renewals] == now)
            try await store.settle()
            let next = try await store.dueWork()[.renewals]
            #expect(next.map { $0 > now } == true)
        }
    }

    @Test func aRestoreGivesTheNewestPeriod() async throws {
        try await withSubscription { store, bought in
            try await store.advance(days: 31)
            let all = try await store.transactions()
            for transaction in all { try await store.finish(transaction.id) }
            let restorable = try await store.client.withConnection {
                try TransactionStore.restorable(
                    (alice.accountID, alice.bundleID),
                    applicationUsername: nil,
                    productIDs: nil,
                    limit: 10,
                    on: $0
                )
            }
            #expect(restorable.map(\.transaction.id) == [all.last?.id])
            #expect(restorable.map(\.transaction.originalID) == [bought.id])
        }
    }
}

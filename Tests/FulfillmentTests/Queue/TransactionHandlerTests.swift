import EventTypes
import Messaging
import Postgres
import StoreAPI
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct TransactionHandlerTests {
    private let plan: [DeliveryTarget] = [.entitlement, .credit(unit: "coins", amount: 100)]

    @Test func aPurchaseIsQueuedDeliveredWithItsReceiptAndPublished() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, version: 1, state: .purchasing, plan: plan))
            try await store.arrive(.sample(1, plan: plan))
            let published = try await store.published()
            #expect(published.map(\.type) == [.queueChanged, .queueChanged])
            #expect(published.map(\.change.revision) == [1, 2])
            #expect(published.map(\.change.isDelivered) == [false, true])
            #expect(published[1].change.transaction == .sample(1, plan: plan))
            let outbox = try await store.outbox()
            #expect(outbox.allSatisfy { $0.key == "alice" && $0.subject == "1" })
            #expect(outbox.allSatisfy { $0.topic == Topics.fulfillmentQueues.name })
            let page = try await store.reads.unfinished(in: .sample())
            #expect(page.revision == 2)
            #expect(page.changes.map(\.data) == [outbox[1].data])
            // What the store gives itself needs no delivery that is confirmed later.
            #expect(try await store.deliveries(of: 1).isEmpty)
            #expect(
                try await store.reads.entitlements(of: .sample()).entitlements == [
                    Entitlement(
                        productID: ProductID(unchecked: "coins.100"),
                        originalTransactionID: TransactionID(number: 1),
                        grantedAt: startOfTime
                    )
                ]
            )
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
        }
    }

    @Test func aShortPaymentIsOneChange() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, plan: plan))
            // The event arrives a second later.
            try await store.arrive(.sample(1, version: 1, state: .purchasing, plan: plan))
            let changes = try await store.published().map(\.change)
            #expect(changes.map(\.revision) == [1])
            #expect(changes.map(\.transaction.state) == [.purchased])
        }
    }

    @Test func aPaymentThatLastsIsShownAndThenItsResult() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, version: 1, state: .purchasing, plan: plan))
            let shown = try await store.reads.unfinished(in: .sample()).changes
            #expect(shown.count == 1)
            try await store.arrive(.sample(1, plan: plan))
            let changes = try await store.published().map(\.change)
            #expect(changes.map(\.transaction.state) == [.purchasing, .purchased])
            #expect(changes.map(\.revision) == [1, 2])
        }
    }

    @Test func duplicatesAndOlderVersionsInOneBatchOrLaterChangeNothing() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan)
            let purchasing = Transaction.sample(1, version: 1, state: .purchasing, plan: plan)
            try await store.arrive(purchase, purchase, purchasing, purchase)
            try await store.arrive(purchasing)
            try await store.arrive(purchase)
            #expect(try await store.published().map(\.change.revision) == [1])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
        }
    }

    @Test func aConsumableIsGrantedOnceEvenIfItsRowsAreGone() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, quantity: 2, plan: plan))
            let change = QueueRules.apply(.sample(1, quantity: 2, plan: plan), to: nil)
            #expect(change?.isGranted == true)
            let planned = try QueuePlan(
                arrivals: [
                    ArrivedTransaction(
                        transaction: .sample(1, quantity: 2, plan: plan),
                        snapshot: TransactionSnapshot(bytes: []),
                        traceparent: nil
                    )
                ],
                existing: [:],
                now: startOfTime
            )
            try await store.client.withTransaction { connection in
                try DeliveryStore.grant(planned, on: connection)
            }
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 200])
            #expect(try await store.reads.entitlements(of: .sample()).entitlements.count == 1)
        }
    }

    @Test func aRefundBeforeTheReceiptLeavesThePurchaseRevoked() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan + [.webhook(url: "https://a.example")])
            try await store.arrive(.sample(1, version: 1, state: .purchasing, plan: plan))
            try await store.arrive(purchase.refunded())
            try await store.arrive(purchase)
            let page = try await store.reads.unfinished(in: .sample())
            #expect(page.revision == 2)
            let published = try await store.published()
            #expect(published.last?.change.transaction == purchase.refunded())
            #expect(published.last?.change.transaction.state == .purchased)
            #expect(
                try await store.deliveries(of: 1) == ["2:refund:1 pending", "2:webhook void"]
            )
            #expect(try await store.reads.entitlements(of: .sample()).entitlements.isEmpty)
            #expect(try await store.reads.balances(of: .sample()).isEmpty)
            #expect(try await store.finish(1) == .finished(at: startOfTime))
        }
    }

    @Test(arguments: [true, false]
    )
    func aRefundTakesBackWhatWasGivenAndVoidsOpenDeliveries(isOneBatch: Bool) async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan + [.webhook(url: "https://a.example")])
            if isOneBatch {
                try await store.arrive(purchase, purchase.refunded(), purchase.refunded())
            } else {
                try await store.arrive(purchase)
                try await store.arrive(purchase.refunded())
                try await store.arrive(purchase.refunded())
            }
            #expect(try await store.published().map(\.change.revision) == [1, 2])
            #expect(
                try await store.deliveries(of: 1) == ["2:refund:1 pending", "2:webhook void"]
            )
            let entitlements = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(entitlements.map(\.revokedAt) == [purchase.refunded().revokedAt])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 0])
        }
    }

    @Test func aRefundAfterTheCreditIsSpentLeavesANegativeBalance() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan)
            try await store.arrive(purchase)
            try await store.client.withConnection { connection in
                try connection.execute(
                    """
                    INSERT INTO credit_entries
                        (transaction_id, account_id, bundle_id, unit, kind, number, amount,
                        created_at)
                    VALUES (99, 'alice', 'com.example.app', 'coins', 'grant', 0, -60, now())
                    """
                )
            }
            try await store.arrive(purchase.refunded())
            #expect(try await store.reads.balances(of: .sample()) == ["coins": -60])
        }
    }

    @Test func aRestoredCopyEntitlesUnderItsOriginalUntilARefund() async throws {
        try await withFulfillment { store in
            let original = Transaction.sample(1, plan: plan)
            try await store.arrive(original)
            try await store.arrive(
                .sample(2, version: 1, state: .restored, originalID: 1, plan: plan)
            )
            try await store.arrive(original.refunded())
            try await store.arrive(
                .sample(3, version: 1, state: .restored, originalID: 1, plan: plan)
            )
            let entitlements = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(entitlements.map(\.originalTransactionID.number) == [1])
            #expect(entitlements.map(\.revokedAt) == [original.refunded().revokedAt])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 0])
            #expect(try await store.reads.unfinished(in: .sample()).changes.count == 3)
        }
    }

    @Test(arguments: [true, false]
    )
    func aReversedRefundGivesEverythingBackAnyNumberOfTimes(isOneBatch: Bool) async throws {
        try await withFulfillment { store in
            var versions = [Transaction.sample(1, plan: plan)]
            for _ in 1...3 {
                versions.append(versions[versions.count - 1].refunded())
                versions.append(versions[versions.count - 1].refundReversed())
            }
            if isOneBatch {
                try await store.arrive(versions + versions)
            } else {
                var isOwned: [Bool] = []
                var balances: [Int64?] = []
                for version in versions {
                    // Each event arrives twice, because the log may deliver it twice.
                    try await store.arrive(version)
                    try await store.arrive(version)
                    let owned = try await store.reads.entitlements(of: .sample()).entitlements
                    isOwned += owned.map { $0.revokedAt == nil }
                    balances.append(try await store.reads.balances(of: .sample())["coins"])
                }
                #expect(isOwned == [true, false, true, false, true, false, true])
                #expect(balances == [100, 0, 100, 0, 100, 0, 100])
            }
            #expect(try await store.published().map(\.change.revision) == Array(1...7))
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map(\.revokedAt) == [nil])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
            // An older version changes nothing.
            try await store.arrive(versions[5])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
        }
    }

    @Test func aRefundThatRevokesNothingChangesOnlyTheQueue() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan)
            let part = purchase.refunded(30, revokes: false)
            try await store.arrive(purchase)
            try await store.arrive(part)
            let published = try await store.published()
            #expect(published.map(\.change.transaction) == [purchase, part])
            #expect(published.last?.change.isDelivered == true)
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map(\.revokedAt) == [nil])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
            try await store.arrive(part.refunded())
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 0])
        }
    }

    @Test func aPartialRefundThatOvertakesItsReceiptWaitsForIt() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan)
            let part = purchase.refunded(30, revokes: false)
            try await store.arrive(.sample(1, version: 1, state: .purchasing, plan: plan))
            try await store.arrive(part)
            #expect(try await store.published().map(\.change.transaction.state) == [.purchasing])
            #expect(try await store.reads.balances(of: .sample()).isEmpty)
            try await store.arrive(purchase)
            try await store.arriveSignedAgain(part)
            #expect(try await store.published().last?.change.transaction == part)
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
        }
    }

    @Test func aRefundReversedBeforeTheReceiptCameGrantsOnce() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan)
            try await store.arrive(purchase.refunded())
            try await store.arrive(purchase.refunded().refundReversed())
            try await store.arrive(purchase)
            try await store.arriveSignedAgain(purchase.refunded().refundReversed())
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map(\.revokedAt) == [nil])
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
        }
    }

    @Test func aFinishedPurchaseThatIsRefundedAndReversedStaysFinished() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: plan)
            try await store.arrive(purchase)
            try await store.finish(1)
            try await store.arrive(purchase.refunded())
            try await store.arrive(purchase.refunded().refundReversed())
            let changes = try await store.published().map(\.change)
            #expect(changes.map(\.revision) == [1, 2, 3, 4])
            #expect(changes.dropFirst().allSatisfy { $0.finishedAt == startOfTime })
            #expect(
                changes.map { $0.transaction.revokedAt != nil } == [false, false, true, false]
            )
            #expect(try await store.reads.unfinished(in: .sample()).changes.isEmpty)
        }
    }

    @Test func onlyTheReasonMakesACopyNotAnotherOriginal() async throws {
        try await withFulfillment { store in
            var renewal = Transaction.sample(2, originalID: 1, plan: plan)
            renewal.reason = .unknown("renewal")
            try await store.arrive(renewal)
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 100])
            try await store.arrive(renewal.refunded())
            #expect(try await store.reads.balances(of: .sample()) == ["coins": 0])
            let owned = try await store.reads.entitlements(of: .sample()).entitlements
            #expect(owned.map { $0.revokedAt != nil } == [true])
        }
    }

    @Test func noQueueIsMadeOrLockedForARenewalThatIsOnlyBegun() async throws {
        try await withFulfillment { store in
            var renewal = Transaction.sample(2, version: 1, state: .purchasing, originalID: 1)
            renewal.reason = .renewal
            try await store.arrive(renewal)
            let queues = try await store.client.withConnection { connection in
                try connection.query("SELECT count(*) FROM queues").first?.decode(Int64.self)
            }
            #expect(queues == 0)
        }
    }

    @Test func aCreditThatCannotBeHeldRefusesItsBatchAndNothingOfItStays() async throws {
        try await withFulfillment { store in
            let poison = Transaction.sample(
                2,
                quantity: 2,
                plan: [.credit(unit: "coins", amount: .max)]
            )
            await #expect(throws: FulfillmentError.self) {
                try await store.arrive(.sample(1), poison)
            }
            let outbox = try await store.outbox()
            let page = try await store.reads.unfinished(in: .sample())
            #expect(outbox.isEmpty)
            #expect(page.revision == 0)
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func purchasesOfManyAccountsAreOneBatch(seed: RandomSeed) async throws {
        var random = seed.generator()
        let transactions = (1...500).map {
            Transaction.sample(Int64($0), account: "account\($0 % 50)", plan: plan)
        }.shuffled(using: &random)
        try await withFulfillment { store in
            try await store.arrive(transactions)
            for account in 0..<50 {
                let page = try await store.reads.unfinished(in: .sample("account\(account)"))
                #expect(page.revision == 10)
                #expect(page.changes.map(\.revision).sorted() == Array(1...10))
                #expect(
                    page.changes.map(\.transactionID) == page.changes.map(\.transactionID).sorted()
                )
            }
        }
    }

    @Test func theServiceAppendsToItsBooksAndChangesNoneOfThem() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, plan: plan))
            for table in [
                "queues", "queue_transactions", "deliveries", "entitlements", "credit_entries",
                "credit_balances", "hosted_contents",
            ] {
                #expect(try await !store.isAllowed("DELETE FROM \(unsafe: table)"))
                #expect(try await !store.isAllowed("TRUNCATE \(unsafe: table)"))
            }
            #expect(try await !store.isAllowed("UPDATE credit_entries SET amount = 1"))
            #expect(try await !store.isAllowed("UPDATE credit_balances SET balance = 1"))
            #expect(try await !store.isAllowed("UPDATE queue_transactions SET account_id = 'bob'"))
            #expect(
                try await !store.isAllowed("UPDATE deliveries SET url = 'https://evil.example'")
            )
            #expect(try await !store.isAllowed("UPDATE entitlements SET granted_at = now()"))
            #expect(try await !store.isAllowed("UPDATE hosted_contents SET sha256 = ''"))
            #expect(try await !store.isAllowed("UPDATE content_uploads SET number = DEFAULT"))
            #expect(try await !store.isAllowed("TRUNCATE content_uploads"))
            #expect(try await !store.isAllowed("UPDATE outbox SET data = '{}'"))
        }
    }
}

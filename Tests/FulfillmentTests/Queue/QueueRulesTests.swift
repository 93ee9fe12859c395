import EventTypes
import Testing

@testable import Fulfillment

@Suite struct QueueRulesTests {
    private let webhook = DeliveryTarget.webhook(url: "https://merchant.example/hook")

    private func apply(
        _ transaction: Transaction,
        to before: QueuedTransaction? = nil
    ) throws -> QueueRules.Change {
        try #require(QueueRules.apply(transaction, to: before))
    }

    @Test func aVersionThatIsKnownOrOlderChangesNothing() throws {
        let known = try apply(.sample(1, version: 2)).after
        #expect(QueueRules.apply(.sample(1, version: 2), to: known) == nil)
        #expect(QueueRules.apply(.sample(1, version: 1, state: .purchasing), to: known) == nil)
    }

    @Test func whatTheStoreDeliversItselfIsDeliveredWithThePurchase() throws {
        let plan: [DeliveryTarget] = [.entitlement, .credit(unit: "coins", amount: 1), .app]
        let change = try apply(.sample(1, plan: plan))
        #expect(change.after.isDelivered)
        #expect(change.isGranted)
        #expect(change.deliveries.isEmpty)
    }

    @Test func aWebhookOrAnUnknownTargetLeavesItUndelivered() throws {
        #expect(try apply(.sample(1, plan: [webhook])).after.isDelivered == false)
        #expect(try apply(.sample(1, plan: [.unknown(kind: "pigeon")])).after.isDelivered == false)
        #expect(try apply(.sample(1, plan: [])).after.isDelivered)
    }

    @Test func aRefundBeforeItsReceiptGrantsNothing() throws {
        let purchasing = try apply(.sample(1, version: 1, state: .purchasing)).after
        let plan: [DeliveryTarget] = [.entitlement, webhook]
        let refund = try apply(Transaction.sample(1, plan: plan).refunded(), to: purchasing)
        #expect(!refund.isGranted && !refund.isTakenBack)
        #expect(refund.deliveries.map(\.target) == ["1:webhook", "1:refund:1"])
        #expect(refund.deliveries.map(\.state) == [.void, .pending])
        #expect(refund.after.isDelivered)
        #expect(refund.after.state == .purchased)
        #expect(QueueRules.apply(.sample(1, plan: plan), to: refund.after) == nil)
    }

    @Test func aRefundAfterTheReceiptTakesBackOnce() throws {
        let purchased = try apply(.sample(1, plan: [webhook])).after
        let refund = try apply(Transaction.sample(1, plan: [webhook]).refunded(), to: purchased)
        #expect(refund.isTakenBack && refund.after.isDelivered)
        #expect(refund.deliveries.map(\.target) == ["0:refund:1"])
        let again = try apply(
            Transaction.sample(1, version: 3, plan: [webhook]).refunded(),
            to: refund.after
        )
        #expect(!again.isTakenBack && !again.isGivenBack)
    }

    @Test func eachRefundAndEachReversalHasAWebhookOfItsOwn() throws {
        let purchase = Transaction.sample(1, plan: [.entitlement, webhook])
        let part = purchase.refunded(30, revokes: false)
        let refund = try apply(part, to: try apply(purchase).after)
        #expect(!refund.isTakenBack)
        #expect(refund.deliveries.map(\.target) == ["1:refund:1"])
        let all = part.refunded()
        let second = try apply(all, to: refund.after)
        #expect(second.isTakenBack)
        #expect(second.deliveries.map(\.target) == ["1:refund:1", "1:refund:2"])
        let reversal = try apply(all.refundReversed(), to: second.after)
        #expect(reversal.isGivenBack && reversal.after.isDelivered)
        #expect(reversal.deliveries.last?.target == "1:refund:2:reversed")
        #expect(reversal.deliveries.allSatisfy { $0.isOfRefund })
    }

    @Test func aChangeAfterTheFinishLeavesItFinished() throws {
        var finished = try apply(.sample(1)).after
        finished.finishedAt = startOfTime
        #expect(
            try apply(Transaction.sample(1).refunded(), to: finished).after.finishedAt
                == startOfTime
        )
    }

    @Test func whatIsNeitherFailedNorPaidIsNotDelivered() throws {
        for state in [TransactionState.purchasing, .deferred, .unknown("pondering")] {
            #expect(try apply(.sample(1, state: state)).after.isDelivered == false)
        }
        #expect(try apply(.sample(1, state: .failed)).after.isDelivered)
    }

    @Test(arguments: [
        (TransactionState.purchasing, false, QueueRules.FinishDecision.refused(.purchasing)),
        (.deferred, false, .refused(.deferred)),
        (.failed, true, .finish),
        (.purchased, true, .finish),
        (.purchased, false, .refused(.notDelivered)),
        (.restored, true, .finish),
        (.restored, false, .refused(.notDelivered)),
        (.unknown("pondering"), true, .refused(.unknownState)),
    ])
    func whoMayFinishWhat(
        state: TransactionState,
        isDelivered: Bool,
        decision: QueueRules.FinishDecision
    ) {
        let queued = QueuedTransaction(
            id: TransactionID(number: 1),
            queue: .sample(),
            version: 1,
            state: state,
            isDelivered: isDelivered
        )
        #expect(QueueRules.finish(queued, from: .sample()) == decision)
        #expect(QueueRules.finish(queued, from: .sample("mallory")) == .refused(.unknown))
        let otherApp = QueueKey(
            accountID: queued.queue.accountID,
            bundleID: BundleID(unchecked: "com.example.other")
        )
        #expect(QueueRules.finish(queued, from: otherApp) == .refused(.unknown))
    }

    @Test func aRevokedOneCanBeFinishedAndAFinishedOneAnswersAsBefore() {
        var queued = QueuedTransaction(
            id: TransactionID(number: 1),
            queue: .sample(),
            version: 3,
            state: .purchased,
            revokedAt: startOfTime,
            isDelivered: false
        )
        #expect(QueueRules.finish(queued, from: .sample()) == .finish)
        queued.finishedAt = startOfTime
        #expect(QueueRules.finish(queued, from: .sample()) == .alreadyFinished(startOfTime))
        #expect(QueueRules.finish(nil, from: .sample()) == .refused(.unknown))
    }
}

@Suite struct DeliveryRulesTests {
    @Test func aCreditIsItsAmountTimesTheQuantityOneForEachUnit() throws {
        let plan: [DeliveryTarget] = [
            .credit(unit: "gems", amount: 1), .credit(unit: "coins", amount: 100),
            .credit(unit: "coins", amount: 5),
        ]
        let credits = try DeliveryRules.credits(of: .sample(1, quantity: 3, plan: plan))
        #expect(credits.map(\.unit) == ["coins", "gems"])
        #expect(credits.map(\.amount) == [315, 3])
    }

    @Test func aRestoredOrRepeatedPurchaseGivesNoCreditAgain() throws {
        let plan = [DeliveryTarget.credit(unit: "coins", amount: 100)]
        #expect(try DeliveryRules.credits(of: .sample(2, originalID: 1, plan: plan)).isEmpty)
    }

    @Test func aCreditThat64BitsCannotHoldIsRefused() {
        let large = DeliveryTarget.credit(unit: "coins", amount: .max)
        #expect(throws: FulfillmentError.self) {
            try DeliveryRules.credits(of: .sample(1, quantity: 2, plan: [large]))
        }
        #expect(throws: FulfillmentError.self) {
            try DeliveryRules.credits(
                of: .sample(1, plan: [large, .credit(unit: "coins", amount: 1)])
            )
        }
    }
}

@Suite struct QueuePlanTests {
    private func arrival(_ transaction: Transaction) throws -> ArrivedTransaction {
        ArrivedTransaction(
            transaction: transaction,
            snapshot: TransactionSnapshot(bytes: []),
            traceparent: nil
        )
    }

    @Test func everyChangeOfAQueueIsNumberedEvenTwoInOneBatch() throws {
        let arrivals = try [
            Transaction.sample(1, version: 1, state: .purchasing), .sample(1),
            .sample(2, account: "bob"), .sample(3), .sample(1),
        ].map(arrival)
        let plan = try QueuePlan(arrivals: arrivals, existing: [:], now: startOfTime)
        #expect(plan.changes.map(\.after.id.number) == [1, 1, 2, 3])
        #expect(plan.changes.map(\.ordinal) == [1, 2, 1, 3])
        #expect(plan.counts == [.sample("alice"): 3, .sample("bob"): 1])
        #expect(plan.rows.map(\.after.version) == [2, 2, 2])
    }

    @Test func anUpgradeInTheBatchOfItsPurchaseGivesItsOwnProduct() throws {
        let bought = Transaction.sample(1, product: "club")
        var upgrade = Transaction.sample(2, product: "gold", originalID: 1)
        upgrade.reason = .purchase
        let arrivals = try [bought, upgrade].map(arrival)
        let plan = try QueuePlan(arrivals: arrivals, existing: [:], now: startOfTime)
        #expect(plan.entitlements.map(\.productID) == [bought.productID, upgrade.productID])
        #expect(plan.entitlements.map(\.originalID) == [bought.id, bought.id])
    }

    @Test func givingBackACopyLeavesTheEntitlementOfItsOriginal() throws {
        let copy = Transaction.sample(2, originalID: 1)
        let arrivals = try [copy, copy.refunded()].map(arrival)
        let plan = try QueuePlan(arrivals: arrivals, existing: [:], now: startOfTime)
        #expect(plan.takenBack == [copy.id])
        #expect(plan.entitlements.map(\.isChanged) == [false])
        #expect(plan.credits.isEmpty)
    }
}

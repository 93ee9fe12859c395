import Callbacks
import EventTypes
import Foundation
import Messaging
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

/// The webhook that reports a refund to a merchant.
@Suite(.timeLimit(.minutes(10)))
struct RefundWebhookTests {
    private struct Body: Decodable {
        var type: String
        var transaction: Transaction
        var target: DeliveryTarget
        var refund: Int?
    }

    private let shop = DeliveryTarget.webhook(url: "http://shop.example/hook")
    private let mail = DeliveryTarget.webhook(url: "http://mail.example/hook")

    private func record(
        _ webhook: Webhook,
        _ result: CallbackResult,
        in store: FulfillmentDatabase
    ) async throws {
        let now = store.clock.now()
        try await store.webhooks.record([
            WebhookOutcome(
                webhook: webhook,
                result: result,
                time: now,
                nextAttemptAt: now.onMachines.advanced(by: .seconds(3600))
            )
        ])
    }

    private func take(in store: FulfillmentDatabase) async throws -> [Webhook] {
        try await store.webhooks.take(limit: 10, excluding: []).sorted { $0.id < $1.id }
    }

    @Test func eachWebhookOfThePlanGetsTheRefundOnceAsAnOwnType() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [.entitlement, shop, mail])
            try await store.arrive(purchase)
            for webhook in try await take(in: store) {
                try await record(webhook, .success, in: store)
            }
            let before = try await store.published().count
            // The refund arrives twice, because the log may deliver it twice.
            try await store.arrive(purchase.refunded())
            try await store.arrive(purchase.refunded())
            let webhooks = try await take(in: store)
            #expect(webhooks.map(\.id) == ["delivery_1_1_refund_1", "delivery_1_2_refund_1"])
            #expect(
                webhooks.map(\.url) == ["http://shop.example/hook", "http://mail.example/hook"]
            )
            for webhook in webhooks {
                let body = try JSONDecoder().decode(Body.self, from: Data(webhook.body()))
                #expect(body.type == "transaction.refunded.v1" && body.refund == 1)
                #expect(body.transaction == purchase.refunded())
                #expect(body.target == (webhook.target == "1:refund:1" ? shop : mail))
                try await record(webhook, .success, in: store)
            }
            #expect(try await take(in: store).isEmpty)
            #expect(
                try await store.deliveries(of: 1) == [
                    "1:refund:1 delivered", "1:webhook delivered", "2:refund:1 delivered",
                    "2:webhook delivered",
                ]
            )
            // Its confirmations are in the log, but they do not change the queue.
            let confirmed = try await store.outbox().filter { $0.type == .deliveryConfirmed }
                .map { try $0.decode(DeliveryConfirmed.self).target.rawValue }
            #expect(confirmed.sorted() == ["1:refund:1", "1:webhook", "2:refund:1", "2:webhook"])
            #expect(try await store.published().count == before + 1)
        }
    }

    @Test func theRefundWaitsWhileThePurchasesWebhookMayBeUnderWay() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            try await store.arrive(purchase)
            #expect(try await take(in: store).map(\.id) == ["delivery_1_0"])
            store.clock.advance(by: .seconds(10))
            try await store.arrive(purchase.refunded())
            #expect(try await take(in: store).isEmpty)
            #expect(try await store.webhooks.untilNextDue() == .seconds(20))
            store.clock.advance(by: .seconds(20))
            #expect(try await take(in: store).map(\.id) == ["delivery_1_0_refund_1"])
        }
    }

    @Test func anUnsentPurchaseIsVoidAndItsRefundIsSentAtOnce() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            try await store.arrive(purchase)
            try await store.arrive(purchase.refunded())
            #expect(try await take(in: store).map(\.id) == ["delivery_1_0_refund_1"])
            #expect(
                try await store.deliveries(of: 1) == ["0:refund:1 pending", "0:webhook void"]
            )
            #expect(try await store.published().last?.change.isDelivered == true)
            #expect(try await store.finish(1) == .finished(at: store.clock.now()))
        }
    }

    @Test func aPurchaseWhoseWebhookFailedIsVoidAndItsRefundIsSentSoon() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            try await store.arrive(purchase)
            let webhook = try #require(try await take(in: store).first)
            try await record(webhook, .unsuccessfulStatus, in: store)
            store.clock.advance(by: .seconds(31))
            try await store.arrive(purchase.refunded())
            #expect(try await take(in: store).map(\.id) == ["delivery_1_0_refund_1"])
        }
    }

    @Test func aRefundBeforeItsReceiptIsSentAfterTheReceipt() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            try await store.arrive(purchase.refunded())
            try await store.arrive(purchase)
            #expect(try await take(in: store).map(\.id) == ["delivery_1_0_refund_1"])
        }
    }

    @Test func aRefundThatIsNotConfirmedIsSentAgainUnderTheSameID() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            try await store.arrive(purchase, purchase.refunded())
            let first = try #require(try await take(in: store).first)
            try await record(first, .unsuccessfulStatus, in: store)
            #expect(try await take(in: store).isEmpty)
            store.clock.advance(by: .seconds(3600))
            // This sender is killed before it records an outcome.
            #expect(try await take(in: store).map(\.id) == [first.id])
            #expect(try await take(in: store).isEmpty)
            store.clock.advance(by: .seconds(30))
            let third = try #require(try await take(in: store).first)
            #expect(third.id == first.id && third.attempt == 3)
            #expect(try third.body() == first.body())
            try await record(third, .success, in: store)
            // An administrator asks for it again.
            #expect(try await store.webhooks.sendAgain(TransactionID(number: 1)) == 1)
            #expect(try await take(in: store).map(\.id) == [first.id])
        }
    }

    @Test func aCopyThatIsTakenBackCausesNoWebhook() async throws {
        try await withFulfillment { store in
            let copy = Transaction.sample(2, originalID: 1, plan: [shop])
            try await store.arrive(copy)
            try await store.arrive(copy.refunded())
            #expect(try await store.deliveries(of: 2) == ["0:webhook void"])
            #expect(try await take(in: store).isEmpty)
        }
    }

    @Test func aMerchantHearsOfPurchaseRefundsAndReversalInOrder() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            let part = purchase.refunded(30, revokes: false)
            let all = part.refunded()
            try await store.arrive(purchase)
            try await store.arrive(part)
            // The webhook of the purchase is not sent yet, so nothing else is due.
            let first = try await take(in: store)
            #expect(first.map(\.id) == ["delivery_1_0"])
            #expect(try await take(in: store).isEmpty)
            try await record(first[0], .success, in: store)
            try await store.arrive(all)
            try await store.arrive(all.refundReversed())
            var sent: [(id: String, body: Body)] = []
            while let webhook = try await take(in: store).first {
                sent.append(
                    (webhook.id, try JSONDecoder().decode(Body.self, from: Data(webhook.body())))
                )
                try await record(webhook, .success, in: store)
            }
            #expect(
                sent.map(\.id) == [
                    "delivery_1_0_refund_1", "delivery_1_0_refund_2",
                    "delivery_1_0_refund_2_reversed",
                ]
            )
            #expect(sent.map(\.body.refund) == [1, 2, 2])
            #expect(
                sent.map(\.body.type) == [
                    "transaction.refunded.v1", "transaction.refunded.v1",
                    "transaction.refund-reversed.v1",
                ]
            )
            #expect(sent.allSatisfy { $0.body.transaction == all.refundReversed() })
        }
    }

    @Test func aRefundOfAPartLeavesThePurchasesWebhookOpen() async throws {
        try await withFulfillment { store in
            let purchase = Transaction.sample(1, plan: [shop])
            try await store.arrive(purchase)
            try await store.arrive(purchase.refunded(30, revokes: false))
            #expect(
                try await store.deliveries(of: 1) == ["0:refund:1 pending", "0:webhook pending"]
            )
            // One that waits for another goes on waiting, whoever asks for it.
            #expect(try await store.webhooks.sendAgain(TransactionID(number: 1)) == 2)
            let webhook = try #require(try await take(in: store).first)
            #expect(webhook.id == "delivery_1_0")
            #expect(try await store.finish(1) == .refused(.notDelivered))
            try await record(webhook, .success, in: store)
            #expect(try await store.finish(1) == .finished(at: store.clock.now()))
        }
    }
}

import EventTypes
import Foundation
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Webhooks to a merchant's server about a refund.
    @Suite
    struct RefundWebhooks {
        private struct Body: Decodable {
            var type: String
            var transaction: Transaction
        }

        @Test func aRefundReachesTheMerchantThoughTheSenderIsKilled() async throws {
            try await withStore(.with(postgresProxies: [.fulfillment])) { store in
                try await store.importSampleCatalog()
                let merchant = try await WebhookReceiver.start()
                try await store.sellGift(deliveredTo: merchant.url)
                let gift = try await store.buy(SampleCatalog.gift)
                try await store.expectWhole([gift])
                let hold = try store.hold(
                    .fulfillment,
                    .beforeStatement(containing: "delivered_at = confirmed.time")
                )
                for _ in 0..<2 {
                    _ = try await store.administrator.refund(gift.transactionID).value
                }
                try await hold.reached()
                #expect(merchant.deliveries.count == 2)
                try await store.crash(.fulfillment, at: hold)
                let id = try #require(merchant.deliveries.last?.id)
                #expect(id.hasSuffix("_refund_1") && id.contains("\(gift.transactionID)"))
                try await eventually("the refund to be told again, and confirmed") {
                    let report = try await store.quietAudit([gift])
                    return merchant.deliveries.count == 3 && report.violations.isEmpty ? true : nil
                }
                #expect(merchant.deliveries.dropFirst().map(\.id) == [id, id])
                let types = try merchant.deliveries.map { delivery in
                    try JSONDecoder().decode(Body.self, from: Data(delivery.body)).type
                }
                #expect(
                    types == [
                        "transaction.purchased.v1", "transaction.refunded.v1",
                        "transaction.refunded.v1",
                    ]
                )
                let why = try await store.counterfoil("why", gift.transactionID.rawValue)
                #expect(why.output.contains(":refund:1"))
                let reconcile = try await store.counterfoil("reconcile")
                #expect(reconcile.exit == .code(0), "\(reconcile.output)")
                await merchant.stop()
            }
        }
    }
}

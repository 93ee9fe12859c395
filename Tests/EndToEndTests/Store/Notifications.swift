import EventTypes
import Foundation
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Notifications to a merchant's server, with the services running.
    @Suite
    struct Notifications {
        @Test func betweenNotificationSentAndRecorded() async throws {
            try await withStore(.with(postgresProxies: [.receipts])) { store in
                try await store.importSampleCatalog()
                let merchant = try await WebhookReceiver.start()
                _ = try await store.administrator.setNotificationEndpoint(to: merchant.url).value
                let hold = try store.hold(
                    .receipts,
                    .beforeStatement(containing: "INSERT INTO notification_attempts")
                )
                let payment = try await store.buy(SampleCatalog.coins)
                try await hold.reached()
                #expect(merchant.deliveries.count == 1)
                try await store.crash(.receipts, at: hold)
                try await store.expectWhole([payment])
                try await eventually("the notification is sent again") {
                    merchant.deliveries.count == 2 ? true : nil
                }
                #expect(Set(merchant.deliveries.map(\.body)).count == 1)
                await merchant.stop()
            }
        }

        @Test func aMerchantIsNotifiedOfPurchaseAndRefundButNoRestore() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let merchant = try await WebhookReceiver.start()
                let administrator = try store.administrator
                _ = try await administrator.setNotificationEndpoint(to: merchant.url).value
                let ada = try store.client(account: "ada")
                let pro = try await store.buy(SampleCatalog.pro)
                try await store.expectWhole([pro])
                try await eventually("something to restore") {
                    try await ada.restore().value.transactions.first
                }
                _ = try await administrator.refund(pro.transactionID).value
                try await eventually("the merchant is told of the refund") {
                    merchant.deliveries.count >= 2 ? true : nil
                }
                let kinds = try merchant.deliveries.map { try Self.kind(of: $0.body) }
                #expect(kinds == ["ONE_TIME_CHARGE", "REFUND"])
                await merchant.stop()
            }
        }

        private struct Body: Decodable { var signedPayload: String }
        private struct Payload: Decodable { var notificationType: String }

        /// The type of the notification in a body.
        static func kind(of body: [UInt8]) throws -> String {
            let jws = try JSONDecoder().decode(Body.self, from: Data(body)).signedPayload
            let part = try #require(jws.split(separator: ".").dropFirst().first)
            let payload = Data(try #require(StrictBase64.decode(part)))
            return try JSONDecoder().decode(Payload.self, from: payload).notificationType
        }
    }
}

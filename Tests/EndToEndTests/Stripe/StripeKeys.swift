import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

extension EndToEnd {
    /// A key of Stripe's API that is replaced while a store charges.
    @Suite
    struct StripeKeys {
        private static let (old, new) = ("rk_test_of_yesterday", "rk_test_of_this_day")

        @Test func aKeyThatIsRevokedIsReplacedWithoutARestart() async throws {
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("stripe-key-\(UUID().uuidString)")
            try Data(Self.old.utf8).write(to: file)
            // A file that stays behind does no harm.
            defer { try? FileManager.default.removeItem(at: file) }
            var options = StoreOptions()
            options.processor = .stripe
            options.settings[.payments] = ["STRIPE_KEY_FILE": file.path]
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let stripe = try #require(store.stripe)
                let first = try await store.buy()
                try await store.expectWhole([first])
                stripe.server.revoke(Self.old)
                let second = try await store.buy()
                let payments = store.process(.payments)
                try await eventually("the refusal of the key to be named") {
                    payments.log().contains("does not take the store's key") ? true : nil
                }
                let ready = try await StoreHTTP.send(.GET, payments.url + "/health/ready")
                #expect(ready.status == 200)
                #expect(ready.text.contains("processor (Stripe does not answer"), "\(ready.text)")
                // The payment waits, and nobody is told that it has failed.
                let waiting = try await store.client(account: "ada")
                    .transaction(second.transactionID)
                #expect(waiting.valueIfAny?.transaction.state == .purchasing)
                try Data(Self.new.utf8).write(to: file)
                // A refused key is not used for half a minute.
                try await eventually(within: .seconds(120), "the payment to be charged") {
                    let found = try await store.client(account: "ada")
                        .transaction(second.transactionID)
                    return found.valueIfAny?.transaction.state == .purchased ? true : nil
                }
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])
                let log = payments.log()
                #expect(!log.contains(Self.old) && !log.contains(Self.new))
            }
        }
    }
}

import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// A sandbox accepts test payment methods, a production store does not, and each store is one
    /// of the two.
    @Suite
    struct StoreEnvironments {
        private static let name = "STORE_ENVIRONMENT"

        @Test func aStoreWhoseServicesDisagreeIsNotReadyAndLosesNothing() async throws {
            try await withStore(.stopped) { store in
                store.process(.receipts).set([Self.name: "Production"])
                for process in store.processes { try await process.start() }
                try await store.process(.catalog).waitUntilReady()
                try await expectDisagreement(.payments, store)
                try await expectDisagreement(.receipts, store)

                // A client that still calls `payments` is charged, and waits for the receipt.
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                let client = try store.client(account: "ada")
                try await client.wait(for: payment.transactionID, toBe: .purchased)
                try await eventually("receipts to meet the transaction and to stop") {
                    store.process(.receipts).log()
                        .contains("Transaction \(payment.transactionID) of payments was made")
                        ? true : nil
                }
                #expect(try await client.receipt(payment.transactionID).status == 404)
                try await expectDisagreement(.receipts, store)

                let receipts = store.process(.receipts)
                _ = try await receipts.terminate()
                receipts.set([Self.name: "Sandbox"])
                try await receipts.start()
                try await store.waitUntilReady()
                try await store.expectWhole([payment])
            }
        }

        @Test(.onlySandbox("A store in production does not take a test key."))
        func aProductionStoreTakesNoPlayMoney() async throws {
            let production = [Self.name: "Production"]
            let settings = [StoreService.payments: production, .receipts: production]
            try await withStore(.with(settings: settings)) { store in
                #expect(store.process(.payments).log().contains("No payment processor is"))
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let before = try await store.records()
                for method in SandboxPaymentMethod.allCases {
                    let answer = try await client.add(.sample(by: method))
                    #expect(answer.status == 422, "\(method)")
                    #expect(answer.problem?.code == "payment_method_not_available", "\(method)")
                    #expect(answer.problem?.detail.contains("\(method.rawValue) ") == true)
                }
                for (name, body) in try withoutAnyMethod() {
                    let answer = try await client.raw(
                        .POST,
                        store.urls.payments + Routes.payments,
                        body: body,
                        headers: [
                            ("content-type", "application/json"), ("idempotency-key", name),
                        ]
                    )
                    #expect((400...422).contains(answer.status), "\(name): \(answer.text)")
                }
                let resumption = try await store.administrator.raw(
                    .POST,
                    store.urls.payments + Routes.resumption(TransactionID(number: 1))
                )
                #expect(resumption.status == 422)
                #expect(resumption.text.contains("payment_method_not_available"))
                let test = try await store.administrator.raw(
                    .PUT,
                    store.urls.payments + Routes.testSettings(AccountID(unchecked: "ada")),
                    body: Array(#"{"bundleID": "com.example.app", "asksToBuy": true}"#.utf8)
                )
                #expect(test.status == 404, "\(test.text)")
                #expect(try await store.records() == before)
            }
        }

        /// Returns requests without a payment method, in every form that JSON allows.
        private func withoutAnyMethod() throws -> [(String, [UInt8])] {
            let sample = try JSONEncoder().encode(PaymentRequest.sample())
            let fields = try #require(
                JSONSerialization.jsonObject(with: sample) as? [String: Any]
            )
            let methods: [(String, Any?)] = [("missing", nil), ("null", NSNull()), ("empty", "")]
            return try methods.map { name, method in
                var fields = fields
                fields["paymentMethod"] = method
                return (name, Array(try JSONSerialization.data(withJSONObject: fields)))
            }
        }

        /// Waits until a service is not ready and reports the services' environments.
        private func expectDisagreement(
            _ service: StoreService,
            _ store: StoreHarness
        ) async throws {
            let url = store.process(service).url + "/health/ready"
            let text = try await eventually("\(service) to say that it disagrees") {
                // It may not be listening yet.
                guard let answer = try? await StoreHTTP.send(.GET, url), answer.status == 503,
                    answer.text.contains(Self.name)
                else { return String?.none }
                return answer.text
            }
            for word in ["payments", "receipts", "Sandbox", "Production"] {
                #expect(text.contains(word), "\(text)")
            }
        }
    }
}

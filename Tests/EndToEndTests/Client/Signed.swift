import EventTypes
import Foundation
import PaymentQueue
import ReceiptValidation
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The StoreKit 2 style interface against the running services: the client verifies signatures.
    @Suite(.serialized)
    struct Signed {
        private typealias Outcome = VerificationResult<PaymentQueue.Transaction>

        private func withProducts(
            trusting isTrusted: Bool = true,
            _ body: (StoreHarness, StoreConfiguration) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                if isTrusted { configuration.receiptTrust = try trust(in: store) }
                SKPaymentQueue.configure(configuration)
                try await body(store, configuration)
            }
        }

        private func trust(
            in store: StoreHarness,
            bundleID: String = StoreKeys.bundleID.rawValue
        ) throws -> ReceiptTrust {
            let root = try Data(contentsOf: URL(fileURLWithPath: store.keys.rootCertificate))
            return ReceiptTrust(roots: [Array(root)], bundleID: bundleID, environment: .sandbox)
        }

        private func product(_ id: ProductID) async throws -> PaymentQueue.Product {
            try #require(try await PaymentQueue.Product.products(for: [id.rawValue]).first)
        }

        private func buy(
            _ id: ProductID,
            _ options: Set<PaymentQueue.Product.PurchaseOption> = []
        ) async throws -> Outcome {
            let result = try await product(id).purchase(options: options)
            guard case .success(let signed) = result else {
                throw HarnessError("The purchase ended with \(result).")
            }
            return signed
        }

        private func collect(_ all: PaymentQueue.Transaction.Transactions) async throws -> [Outcome]
        {
            try await all.reduce(into: []) { $0.append($1) }
        }

        @Test func aPurchaseIsSignedAndVerified() async throws {
            try await withProducts { store, configuration in
                let token = UUID()
                let signed = try await buy(
                    SampleCatalog.coins,
                    [.quantity(2), .appAccountToken(token)]
                )
                let coins = try signed.payloadValue
                #expect(coins.productID == SampleCatalog.coins.rawValue)
                #expect(coins.productType == .consumable && coins.purchasedQuantity == 2)
                #expect(coins.appAccountToken == token)
                #expect(coins.price == Decimal(string: "1.98"))
                #expect(coins.storefront?.identifier == "143441")
                // A server accepts the same bytes.
                let trust = try #require(configuration.receiptTrust)
                let payload = try ReceiptValidator(trust)
                    .verify(signed.jwsRepresentation, as: JWSTransaction.self)
                #expect(payload.transactionId == "\(coins.id)")
                let unfinished = try await collect(PaymentQueue.Transaction.unfinished)
                #expect(unfinished.map(\.unsafePayloadValue.id) == [coins.id])
                try await coins.finish()
                #expect(try await collect(PaymentQueue.Transaction.unfinished).isEmpty)
                #expect(try await collect(PaymentQueue.Transaction.all) == [signed])
                #expect(try await collect(PaymentQueue.Transaction.currentEntitlements).isEmpty)
            }
        }

        @Test func theNewestPurchaseAndTheEntitlementAreFoundByProduct() async throws {
            try await withProducts { store, _ in
                let (coins, pro) = (SampleCatalog.coins.rawValue, SampleCatalog.pro.rawValue)
                #expect(try await PaymentQueue.Transaction.latest(for: coins) == nil)
                #expect(try await PaymentQueue.Transaction.currentEntitlement(for: pro) == nil)
                let bought = [
                    try await buy(SampleCatalog.coins), try await buy(SampleCatalog.coins),
                    try await buy(SampleCatalog.pro),
                ]
                // The order of finishing differs from the order of buying.
                for signed in bought.reversed() { try await signed.payloadValue.finish() }
                #expect(try await PaymentQueue.Transaction.latest(for: coins) == bought[1])
                #expect(
                    try await PaymentQueue.Transaction.currentEntitlement(for: pro) == bought[2]
                )
                let product = try await product(SampleCatalog.pro)
                #expect(try await product.currentEntitlement == bought[2])
                #expect(
                    try await product.latestTransaction?.payloadValue.productType
                        == .nonConsumable
                )
                #expect(try await PaymentQueue.Transaction.currentEntitlement(for: coins) == nil)
            }
        }

        /// Spec rule 71: a restore makes no signed transactions.
        @Test func aRestoreLeavesTheSignedTransactionsAsTheyWere() async throws {
            try await withProducts { store, _ in
                try await buy(SampleCatalog.pro).payloadValue.finish()
                let before = try await collect(PaymentQueue.Transaction.all)
                let client = try store.client(account: "ada")
                try await eventually("payments to know of the finish") {
                    try await client.restore().value.transactions.isEmpty ? nil : true
                }
                try await eventually("the restored copy to be in the queue") {
                    try await client.unfinished().value.transactions.isEmpty ? nil : true
                }
                #expect(try await collect(PaymentQueue.Transaction.all) == before)
                #expect(try await collect(PaymentQueue.Transaction.unfinished).isEmpty)
                #expect(try await collect(PaymentQueue.Transaction.currentEntitlements) == before)
            }
        }

        @Test func aRefundComesWithTheUpdates() async throws {
            try await withProducts { store, _ in
                let pro = try await buy(SampleCatalog.pro).payloadValue
                var updates = PaymentQueue.Transaction.updates.makeAsyncIterator()
                #expect(await updates.next()?.unsafePayloadValue.id == pro.id)
                try await pro.finish()
                _ = try await store.administrator.refund(
                    TransactionID(number: Int64(pro.id))
                ).value
                let refunded = try #require(await updates.next()?.payloadValue)
                #expect(refunded.id == pro.id && refunded.revocationDate != nil)
                #expect(
                    try await PaymentQueue.Transaction.currentEntitlement(for: pro.productID)
                        == nil
                )
            }
        }

        /// The app asks, and a person at the store decides.
        @Test func aBuyerAsksForARefundAndGetsAPartAfterADecline() async throws {
            try await withProducts { store, _ in
                let merchant = try await WebhookReceiver.start()
                _ = try await store.administrator.setNotificationEndpoint(to: merchant.url).value
                let pro = try await buy(SampleCatalog.pro).payloadValue
                var updates = PaymentQueue.Transaction.updates.makeAsyncIterator()
                #expect(await updates.next()?.unsafePayloadValue.id == pro.id)
                try await pro.finish()

                let asked = try await pro.beginRefundRequest(because: .unsatisfied)
                #expect(asked == .success)
                let twice = await #expect(
                    throws: PaymentQueue.Transaction.RefundRequestError.self
                ) {
                    try await pro.beginRefundRequest()
                }
                #expect(twice == .duplicateRequest)
                let decide = ["refund-requests", "decline", "\(pro.id)", "--reason", "used up"]
                let declined = try await store.counterfoil(decide)
                #expect(declined.exit == .code(0), "\(declined.output)")

                try await pro.beginRefundRequest()
                let approve = [
                    "refund-requests", "approve", "\(pro.id)", "--number", "2", "--amount", "1.50",
                    "--keep",
                ]
                let approved = try await store.counterfoil(approve)
                #expect(approved.exit == .code(0), "\(approved.output)")
                let refunded = try #require(await updates.next()?.payloadValue)
                #expect(refunded.id == pro.id && refunded.revocationDate == nil)
                let part = try #require(refunded.revocationPercentage)
                #expect(part > 0 && part < 100)
                try await eventually("the merchant to hear of both decisions") { () -> Bool? in
                    let kinds = try merchant.deliveries.map {
                        try EndToEnd.Notifications.kind(of: $0.body)
                    }
                    // Several are sent at once, so they may come in another order.
                    let told = ["ONE_TIME_CHARGE", "REFUND", "REFUND_DECLINED"]
                    return kinds.sorted() == told ? true : nil
                }
                await merchant.stop()
            }
        }

        @Test func whatAnotherAppWouldBelieveIsUnverified() async throws {
            try await withProducts { store, configuration in
                let signed = try await buy(SampleCatalog.hint)
                #expect(throws: Never.self) { try signed.payloadValue }
                var other = configuration
                other.receiptTrust = try trust(in: store, bundleID: "com.other.app")
                for (trust, expected) in [
                    (other.receiptTrust, Outcome.VerificationError.invalidSignature),
                    (nil, .invalidCertificateChain),
                ] {
                    other.receiptTrust = trust
                    SKPaymentQueue.configure(other)
                    let results = try await collect(PaymentQueue.Transaction.unfinished)
                    guard case .unverified(let value, let error) = try #require(results.first)
                    else {
                        Issue.record("A transaction of another app is not believed.")
                        return
                    }
                    #expect(error == expected)
                    #expect(value.id == signed.unsafePayloadValue.id)
                }
            }
        }

        @Test func aTransactionHasItsReceiptOnceItIsPaid() async throws {
            try await withProducts { store, configuration in
                let product = try #require(
                    try await SKProduct.products(for: [SampleCatalog.hint.rawValue]).first
                )
                guard case .success(let transaction) = try await product.purchase() else {
                    throw HarnessError("The purchase did not succeed.")
                }
                let receipt = try #require(try await transaction.transactionReceipt)
                let trust = try #require(configuration.receiptTrust)
                let payload = try ReceiptValidator(trust)
                    .verify(String(decoding: receipt, as: UTF8.self), as: JWSTransaction.self)
                #expect(payload.transactionId == transaction.transactionIdentifier)
                try await transaction.finish()
            }
        }

        /// Row 65: the stored receipt lists the owned products while the store cannot be reached.
        @Test func whatIsOwnedIsKnownFromTheReceiptWithoutNetwork() async throws {
            try await withProducts { store, configuration in
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "owned-\(UUID().uuidString)"
                )
                var configuration = configuration
                configuration.receiptURL = folder.appendingPathComponent("receipt")
                configuration.deviceID = UUID()
                SKPaymentQueue.configure(configuration)
                #expect(try SKPaymentQueue.default().ownedProducts() == nil)
                let pro = try await buy(SampleCatalog.pro).payloadValue
                // An unfinished consumable is in the receipt but is not owned.
                _ = try await buy(SampleCatalog.coins)
                try await SKPaymentQueue.default().refreshReceipt()
                let receipt = try #require(try SKPaymentQueue.default().appReceipt())
                #expect(receipt.purchases.count == 2)
                var away = configuration
                away.addresses = .init(origin: "http://127.0.0.1:1")
                SKPaymentQueue.configure(away)
                await #expect(throws: SKError.self) { try await product(SampleCatalog.pro) }
                let owned = try #require(try SKPaymentQueue.default().ownedProducts())
                #expect(owned.map(\.productID) == [SampleCatalog.pro.rawValue])
                #expect(owned.first?.productType == .nonConsumable)
                #expect(owned.first?.transactionID == "\(pro.id)")
                // A receipt of another device and a modified receipt are refused.
                away.deviceID = UUID()
                SKPaymentQueue.configure(away)
                #expect(throws: ReceiptRefusal.self) {
                    try SKPaymentQueue.default().ownedProducts()
                }
                try FileManager.default.removeItem(at: folder)
            }
        }

        /// A product has the content that an administrator uploaded, until it is withdrawn.
        @Test func aProductWithHostedContentSaysSo() async throws {
            try await withProducts { store, _ in
                func pro() async throws -> SKProduct {
                    try #require(
                        try await SKProduct.products(for: [SampleCatalog.pro.rawValue]).first
                    )
                }
                #expect(try await !pro().isDownloadable)
                _ = try await store.host(
                    Array(repeating: 7, count: 1_234),
                    version: "2.1",
                    for: SampleCatalog.pro
                )
                let hosted = try await pro()
                #expect(hosted.isDownloadable)
                #expect(hosted.downloadContentLengths == [1_234])
                #expect(hosted.downloadContentVersion == "2.1")
                #expect(!hosted.isFamilyShareable)
                guard case .success(let transaction) = try await hosted.purchase() else {
                    throw HarnessError("The purchase did not succeed.")
                }
                #expect(transaction.downloads.map(\.expectedContentLength) == [1_234])
                #expect(transaction.downloads.map(\.contentVersion) == ["2.1"])
            }
        }
    }
}

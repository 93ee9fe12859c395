import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import ReceiptValidation
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The client library's `async` forms and sequences, against the running services.
    @Suite(.serialized)
    struct Modern {
        private func withProducts(
            paying method: SandboxPaymentMethod = .success,
            _ body: (StoreHarness, [String: SKProduct]) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                SKPaymentQueue.configure(
                    try EndToEnd.PaymentQueues.configuration(of: store, paying: method)
                )
                let ids = [SampleCatalog.coins, SampleCatalog.pro, SampleCatalog.hint]
                let products = try await SKProduct.products(for: ids.map(\.rawValue))
                #expect(products.count == 3)
                try await body(
                    store,
                    Dictionary(uniqueKeysWithValues: products.map { ($0.productIdentifier, $0) })
                )
            }
        }

        private func collect(_ pages: TransactionPages) async throws -> [SKPaymentTransaction] {
            try await pages.reduce(into: []) { $0.append($1) }
        }

        private func success(
            _ product: SKProduct?,
            _ options: Set<SKProduct.PurchaseOption> = []
        ) async throws -> SKPaymentTransaction {
            let result = try await #require(product).purchase(options: options)
            guard case .success(let transaction) = result else {
                throw HarnessError("The purchase ended with \(result).")
            }
            return transaction
        }

        @Test func aPurchaseSucceedsAndIsInTheHistoryFinishedOrNot() async throws {
            try await withProducts { _, products in
                let coins = try await success(
                    products[SampleCatalog.coins.rawValue],
                    [.quantity(2)]
                )
                let pro = try await success(products[SampleCatalog.pro.rawValue])
                #expect(coins.payment.quantity == 2)
                #expect(try await collect(SKPaymentTransaction.unfinished).count == 2)
                try await coins.finish()
                try await pro.finish()
                #expect(try await collect(SKPaymentTransaction.unfinished).isEmpty)
                let all = try await collect(SKPaymentTransaction.all).map(\.transactionIdentifier)
                #expect(all == [coins.transactionIdentifier, pro.transactionIdentifier])
                let owned = try await collect(SKPaymentTransaction.currentEntitlements)
                #expect(owned.map(\.transactionIdentifier) == [pro.transactionIdentifier])
                try await AppStore.sync()
                #expect(AppStore.canMakePayments)
            }
        }

        @Test(.onlySandbox("No card waits for approval."))
        func whatAwaitsApprovalIsPendingAndItsEndComesWithTheUpdates() async throws {
            try await withProducts { store, products in
                let hint = try #require(products[SampleCatalog.hint.rawValue])
                for decision in [ApprovalRequest.Decision.approve, .decline] {
                    let asking = SKProduct.PurchaseOption.simulatesAskToBuyInSandbox(true)
                    let result = try await hint.purchase(options: [asking])
                    guard case .pending(let transaction) = result else {
                        throw HarnessError("The purchase ended with \(result).")
                    }
                    #expect(transaction.transactionIdentifier == nil)
                    await #expect(throws: SKPaymentQueue.NotFinishable(state: .deferred)) {
                        try await transaction.finish()
                    }
                    let id = try #require(try await deferredID(store))
                    _ = try await store.administrator.decide(decision, on: id).value
                    for await update in SKPaymentTransaction.updates
                    where update.transactionState != .deferred {
                        let isApproved = decision == .approve
                        #expect(update.transactionState == (isApproved ? .purchased : .failed))
                        let code = (update.error as? SKError)?.code
                        #expect(code == (isApproved ? nil : .paymentNotAllowed))
                        try await update.finish()
                        break
                    }
                }
            }
        }

        private func deferredID(_ store: StoreHarness) async throws -> TransactionID? {
            try await eventually("a transaction to wait for approval") {
                try await store.client(account: "ada").unfinished().value.transactions
                    .map(\.transaction).first { $0.state == .deferred }?.id
            }
        }

        @Test(.onlySandbox("No card is called off by its buyer."))
        func aCancellationIsNoErrorAndADeclineIsOne() async throws {
            try await withProducts(paying: .cancelled) { store, products in
                let hint = try #require(products[SampleCatalog.hint.rawValue])
                guard case .userCancelled = try await hint.purchase() else {
                    Issue.record("A cancellation ends a purchase with userCancelled.")
                    return
                }
                var configuration = try EndToEnd.PaymentQueues.configuration(
                    of: store,
                    paying: .insufficientFunds
                )
                SKPaymentQueue.configure(configuration)
                let error = await #expect(throws: SKError.self) { try await hint.purchase() }
                #expect(error?.code == .paymentInvalid)
                configuration.paymentMethod = { _ in throw SKError(.paymentCancelled) }
                SKPaymentQueue.configure(configuration)
                guard case .userCancelled = try await hint.purchase() else {
                    Issue.record("A buyer may call it off before the store hears of it.")
                    return
                }
                try await eventually("the failures to be finished") {
                    try await collect(SKPaymentTransaction.unfinished).isEmpty ? true : nil
                }
            }
        }

        @Test func anOwnedProductIsBoughtAgainWithoutACharge() async throws {
            try await withProducts { store, products in
                let pro = products[SampleCatalog.pro.rawValue]
                let first = try await success(pro)
                let second = try await success(pro)
                #expect(second.transactionState == .purchased)
                #expect(second.transactionIdentifier != first.transactionIdentifier)
                #expect(second.original?.transactionIdentifier == first.transactionIdentifier)
                #expect(first.price == first.payment.product.price)
                #expect(second.price == 0)
                try await first.finish()
                try await second.finish()
                #expect(try await collect(SKPaymentTransaction.currentEntitlements).count == 1)
                let charges = try await store.agreedBooks().flatMap(\.charges)
                #expect(charges.count == 1)
            }
        }

        @Test func restoredThreeTimesItIsThreeTransactionsAndOneEntitlement() async throws {
            try await withProducts { store, products in
                let pro = products[SampleCatalog.pro.rawValue]
                let first = try await success(pro, [.applicationUsername("ada@example.com")])
                try await first.finish()
                let client = try store.client(account: "ada")
                try await eventually("payments to know of the finish") {
                    try await client.restore().value.transactions.isEmpty ? nil : true
                }
                let queue = SKPaymentQueue.default()
                let observer = RecordingObserver()
                queue.add(observer)
                let before = try await observer.first(.restored)
                for (count, name) in [nil, "ada@example.com", "somebody else"].enumerated() {
                    queue.restoreCompletedTransactions(withApplicationUsername: name)
                    try await observer.restored(count + 1)
                }
                let restored = observer.transactions(.restored)
                #expect(restored.count == 3, "Under another name nothing is restored.")
                #expect(restored.first === before)
                #expect(Set(restored.map(\.transactionIdentifier)).count == 3)
                for transaction in restored {
                    let original = transaction.original
                    #expect(original?.transactionIdentifier == first.transactionIdentifier)
                    #expect(original?.transactionDate == first.transactionDate)
                    try await observer.delivered(transaction)
                    try await transaction.finish()
                }
                #expect(try await collect(SKPaymentTransaction.currentEntitlements).count == 1)
                queue.remove(observer)
            }
        }

        @Test func twoObserversMayBothFinishAndEachHearsOfOneRemoval() async throws {
            try await withProducts { _, products in
                let queue = SKPaymentQueue.default()
                let observers = [RecordingObserver(), RecordingObserver()]
                for observer in observers { queue.add(observer) }
                #expect(queue.transactionObservers.count == 2)
                queue.add(SKPayment(product: try #require(products[SampleCatalog.hint.rawValue])))
                let transaction = try await observers[0].first(.purchased)
                #expect(try await observers[1].first(.purchased) === transaction)
                for _ in observers { queue.finishTransaction(transaction) }
                for observer in observers { try await observer.removed(transaction) }
                try await queue.finish(transaction)
                #expect(observers.map(\.removedCount) == [1, 1])
                for observer in observers { queue.remove(observer) }
            }
        }

        @Test func aRefundTakesTheProductBack() async throws {
            try await withProducts { store, products in
                let queue = SKPaymentQueue.default()
                let observer = RecordingObserver()
                queue.add(observer)
                let pro = try await success(products[SampleCatalog.pro.rawValue])
                try await pro.finish()
                let id = try #require(
                    pro.transactionIdentifier.flatMap(TransactionID.init(rawValue:))
                )
                _ = try await store.administrator.refund(id).value
                try await observer.revoked(SampleCatalog.pro.rawValue)
                #expect(try await collect(SKPaymentTransaction.currentEntitlements).isEmpty)
                queue.remove(observer)
            }
        }

        /// Of two products that give one name, the one that lasts longest counts.
        @Test func aNameIsGivenAsLongAsOneOfItsProductsLasts() async throws {
            try await withProducts { store, _ in
                let (club, magazine) = try await store.sellTwoThatGive("reader")
                _ = try await store.setClock(Routes.adminClockFreeze)
                let queue = SKPaymentQueue.default()
                #expect(try await queue.entitlement(named: "reader") == nil)
                func subscribe(to id: ProductID) async throws -> AccountEntitlement {
                    let product = try await SKProduct.products(for: [id.rawValue]).first
                    let bought = try await success(product)
                    try await bought.finish()
                    return try await eventually("\(id) to give the name") {
                        try await queue.entitlement(named: "reader").flatMap {
                            $0.transactionID == bought.transactionIdentifier ? $0 : nil
                        }
                    }
                }
                let shorter = try await subscribe(to: club)
                #expect(shorter.productID == club.rawValue)
                let longer = try await subscribe(to: magazine)
                #expect(longer.productID == magazine.rawValue)
                #expect(longer.originalTransactionID == longer.transactionID)
                let ends = [shorter, longer].compactMap(\.expirationDate)
                #expect(ends.count == 2 && ends[0] < ends[1])
                #expect(try await queue.namedEntitlements() == [longer])

                let statuses = try await eventually("receipts to know both subscriptions") {
                    let statuses = try await SubscriptionStatus.all().flatMap(\.statuses)
                    return statuses.count == 2 ? statuses : nil
                }
                for status in statuses { try await status.cancel() }
                let now = try await store.advanceClock("32d", from: try await store.readClock().now)
                #expect(try await queue.entitlement(named: "reader") == longer)
                _ = try await store.advanceClock("32d", from: now)
                try await eventually("the name to be taken away") {
                    try await queue.namedEntitlements().isEmpty ? true : nil
                }
                #expect(try await queue.entitlement(named: "reader") == nil)
            }
        }

        @Test func theReceiptIsAFileThatIsTheSameEachTime() async throws {
            try await withProducts { store, products in
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "receipt-\(UUID().uuidString)"
                )
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.receiptURL = folder.appendingPathComponent("StoreKit/receipt")
                let root = try Data(contentsOf: URL(fileURLWithPath: store.keys.rootCertificate))
                configuration.receiptTrust = ReceiptTrust(
                    roots: [Array(root)],
                    bundleID: StoreKeys.bundleID.rawValue,
                    environment: .sandbox
                )
                configuration.deviceID = UUID()
                configuration.applicationVersion = "2.1"
                SKPaymentQueue.configure(configuration)
                let pro = try await success(products[SampleCatalog.pro.rawValue])
                let coins = try await success(products[SampleCatalog.coins.rawValue])
                try await coins.finish()
                try await pro.finish()
                let queue = SKPaymentQueue.default()
                let receipt = try await eventually("receipts to know of the finish") {
                    try await queue.refreshReceipt()
                    return try queue.appReceipt().flatMap { $0.purchases.count == 1 ? $0 : nil }
                }
                #expect(receipt.purchases.map(\.productID) == [SampleCatalog.pro.rawValue])
                #expect(receipt.applicationVersion == "2.1")
                let url = try #require(queue.receiptURL)
                for _ in 1...5 {
                    try FileManager.default.removeItem(at: url)
                    #expect(try queue.appReceipt() == nil)
                    let bytes = try await queue.refreshReceipt()
                    #expect(try Data(contentsOf: url) == bytes)
                    let again = try #require(try queue.appReceipt())
                    #expect(again.purchases == receipt.purchases)
                }
                try await isBelievedByTheServer(Data(contentsOf: url), store)
                try await refusesWhatItDoesNotBelieve(configuration, at: url)
                SKPaymentQueue.configure(configuration)
                #expect(
                    try await collect(SKPaymentTransaction.all).count == 2,
                    "It makes no transactions."
                )
                try FileManager.default.removeItem(at: folder)
            }
        }

        /// Checks that the merchant's server can verify the app's receipt at the store (spec rules 84
        /// and 92).
        private func isBelievedByTheServer(_ receipt: Data, _ store: StoreHarness) async throws {
            struct Answer: Decodable { var status: Int }
            for (text, status) in [
                (receipt.base64EncodedString(), 0),
                (receipt.dropLast().base64EncodedString(), 21002),
            ] {
                let answer = try await StoreHTTP.send(
                    .POST,
                    store.urls.receipts + Routes.verifyReceipt,
                    body: Array("{\"receipt-data\":\"\(text)\"}".utf8)
                )
                #expect(try answer.decode(Answer.self).status == status)
            }
        }

        /// An invalid receipt does not replace the stored one.
        ///
        /// A test receipt is recognizable.
        private func refusesWhatItDoesNotBelieve(
            _ configuration: StoreConfiguration,
            at url: URL
        ) async throws {
            let before = try Data(contentsOf: url)
            var other = configuration
            other.receiptTrust = ReceiptTrust(
                roots: configuration.receiptTrust?.roots ?? [],
                bundleID: "com.other.app",
                environment: .sandbox
            )
            SKPaymentQueue.configure(other)
            let refusal = await #expect(throws: ReceiptRefusal.self) {
                try await SKPaymentQueue.default().refreshReceipt()
            }
            #expect(refusal?.rule == .bundleID)
            #expect(try Data(contentsOf: url) == before)

            SKPaymentQueue.configure(configuration)
            let queue = SKPaymentQueue.default()
            try await queue.refreshReceipt(properties: [
                SKReceiptPropertyIsExpired: true, SKReceiptPropertyIsRevoked: true,
                SKReceiptPropertyIsVolumePurchase: true,
            ])
            let receipt = try #require(try queue.appReceipt())
            #expect(receipt.isExpired(at: receipt.createdAt))
            #expect(receipt.isVolumePurchase)
            #expect(receipt.purchases.allSatisfy { $0.cancelledAt != nil })
        }
    }
}

extension StoreHarness {
    /// Sells the sample catalog, in which two subscriptions give a name: the club for a month, and
    /// a magazine of another group for two.
    fileprivate func sellTwoThatGive(
        _ name: String
    ) async throws -> (club: ProductID, magazine: ProductID) {
        var document = try SampleCatalog.document()
        var draft = try #require(document.products[SampleCatalog.club])
        draft.entitlements = [EntitlementName(unchecked: name)]
        document.products[SampleCatalog.club] = draft
        let magazine = ProductID(unchecked: "com.example.magazine")
        draft.codeOffers = nil
        draft.subscription = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "magazine"),
            level: 1,
            period: SubscriptionPeriod(2, .month)
        )
        document.products[magazine] = draft
        _ = try await administrator.importCatalog(document).value
        for product in [SampleCatalog.club, magazine] { try await waitUntilSellable(product) }
        return (SampleCatalog.club, magazine)
    }
}

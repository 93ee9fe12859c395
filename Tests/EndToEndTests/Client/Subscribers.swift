import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import ReceiptValidation
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The client library with subscriptions, while the store's clock is advanced.
    @Suite(.serialized)
    struct Subscribers {
        /// A store with a frozen clock, and an app that observes its queue.
        private func withClub(
            _ body: (StoreHarness, RecordingObserver, SKProduct) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                try await store.waitUntilSellable(SampleCatalog.club)
                try await store.waitUntilSellable(SampleCatalog.gold)
                _ = try await store.setClock(Routes.adminClockFreeze)
                let observer = try launch(store)
                let club = try await product(SampleCatalog.club)
                try await body(store, observer, club)
                SKPaymentQueue.default().remove(observer)
            }
        }

        /// Launches the app: it is configured, and an observer is added.
        private func launch(_ store: StoreHarness) throws -> RecordingObserver {
            var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
            let root = try Data(contentsOf: URL(fileURLWithPath: store.keys.rootCertificate))
            configuration.receiptTrust = ReceiptTrust(
                roots: [Array(root)],
                bundleID: StoreKeys.bundleID.rawValue,
                environment: .sandbox
            )
            SKPaymentQueue.configure(configuration)
            let observer = RecordingObserver()
            SKPaymentQueue.default().add(observer)
            return observer
        }

        private func product(_ id: ProductID) async throws -> SKProduct {
            let response = try await SKPaymentQueue.default().products(for: [id.rawValue])
            return try #require(response.products.first)
        }

        /// Buys a product and finishes its transaction.
        private func subscribe(
            to product: SKProduct,
            _ observer: RecordingObserver
        ) async throws -> SKPaymentTransaction {
            guard case .success(let bought) = try await product.purchase() else {
                throw HarnessError("\(product) was not bought.")
            }
            try await bought.finish()
            try await observer.removed(bought)
            return bought
        }

        /// Spec rules 60 and 113.
        @Test func everyPeriodIsDeliveredOnceAndFinished() async throws {
            try await withClub { store, observer, club in
                #expect(club.subscriptionGroupIdentifier == "club")
                #expect(club.subscriptionPeriod?.description == "1 month")
                let first = try await subscribe(to: club, observer)
                #expect(first.original == nil)
                var now = try await store.readClock().now
                let firstEnd = try await store.endOfTheClub()

                now = try await store.advanceClock("31d", from: now)
                let renewal = try await observer.renewal()
                #expect(observer.states(of: renewal) == [.purchased])
                #expect(renewal.transactionIdentifier != first.transactionIdentifier)
                #expect(renewal.original?.transactionIdentifier == first.transactionIdentifier)
                #expect(renewal.original?.transactionDate == first.transactionDate)
                #expect(renewal.payment.product.subscriptionPeriod == club.subscriptionPeriod)
                try await renewal.finish()
                try await observer.removed(renewal)
                let secondEnd = try await store.endOfTheClub()
                #expect(secondEnd > firstEnd)

                // A period that is renewed while the app is closed is there at the launch.
                SKPaymentQueue.default().remove(observer)
                _ = try await store.advanceClock("31d", from: now)
                let later = try launch(store)
                let second = try await later.renewal()
                #expect(later.transactions(.purchased).count == 1)
                #expect(second.original?.transactionIdentifier == first.transactionIdentifier)
                #expect(try await store.endOfTheClub() > secondEnd)
                try await second.finish()
                try await later.removed(second)
                SKPaymentQueue.default().remove(later)
            }
        }

        /// Spec rule 115.
        @Test func anAppShowsTheOfferAndBuysWithIt() async throws {
            try await withStore { store in
                try await store.offerTrial(of: SampleCatalog.club)
                _ = try await store.setClock(Routes.adminClockFreeze)
                let observer = try launch(store)
                let club = try await product(SampleCatalog.club)
                let discount = try #require(club.introductoryPrice)
                #expect(discount.paymentMode == .freeTrial && discount.price == 0)
                #expect(discount.subscriptionPeriod.description == "1 week")
                #expect(await SubscriptionInfo.isEligibleForIntroOffer(for: "club"))
                let bought = try await subscribe(to: club, observer)
                #expect(bought.price == 0)
                #expect(await SubscriptionInfo.isEligibleForIntroOffer(for: "club") == false)
                let status = try #require(try await SubscriptionInfo.status(for: "club").first)
                let signed = try status.transaction.payloadValue.jsonRepresentation
                let text = String(decoding: signed, as: UTF8.self)
                #expect(text.contains(#""offerDiscountType":"FREE_TRIAL""#), "\(text)")
                #expect(text.contains(#""offerPeriod":"P1W","offerType":1"#), "\(text)")
                let price = try status.renewalInfo.payloadValue.renewalPrice
                #expect(price == club.price)

                _ = try await store.advanceClock("8d", from: try await store.readClock().now)
                let renewal = try await observer.renewal()
                #expect(renewal.price == club.price)
                try await renewal.finish()
                try await observer.removed(renewal)
                SKPaymentQueue.default().remove(observer)
                let audit = try await store.reconcile(within: .seconds(60))
                #expect(audit.differences == [] && audit.subscriptions == 1)
                // The log says who had the offer.
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        /// The offer is used on another device after this one has shown it.
        @Test func aBuyerWhoWasShownATrialThatIsGoneIsNotCharged() async throws {
            try await withStore { store in
                try await store.offerTrial(of: SampleCatalog.club)
                _ = try await store.setClock(Routes.adminClockFreeze)
                let observer = try launch(store)
                let club = try await product(SampleCatalog.club)
                #expect(await SubscriptionInfo.isEligibleForIntroOffer(for: "club"))
                try await store.endTrial(of: SampleCatalog.club)
                let refusal = await #expect(throws: SKError.self) { try await club.purchase() }
                #expect(refusal?.code == .ineligibleForOffer)
                #expect(refusal?.storeCode == "offer_not_available")
                #expect(refusal?.localizedDescription.hasSuffix("Nothing was charged.") == true)
                // Whoever is shown the ordinary price pays it.
                let bought = try await subscribe(
                    to: try await product(SampleCatalog.club),
                    observer
                )
                #expect(bought.price == club.price)
                SKPaymentQueue.default().remove(observer)
            }
        }

        @Test func aRestoreGivesTheNewestPeriodAndOnlyThat() async throws {
            try await withClub { store, observer, club in
                let first = try await subscribe(to: club, observer)
                _ = try await store.advanceClock("31d", from: try await store.readClock().now)
                let renewal = try await observer.renewal()
                try await renewal.finish()
                let client = try store.client(account: "ada")
                let restored = try await eventually("payments to know of the finish") {
                    let made = try await client.restore().value.transactions
                    let number = try await store.newestPeriod()
                    return made.contains { $0.subscription?.start == number.start } ? made : nil
                }
                #expect(restored.count == 1)
                SKPaymentQueue.default().restoreCompletedTransactions()
                try await observer.restored(1)
                let copies = observer.transactions(.restored)
                #expect(!copies.isEmpty)
                for copy in copies {
                    #expect(copy.original?.transactionIdentifier == first.transactionIdentifier)
                    try await copy.finish()
                }
            }
        }

        @Test func aCancelledSubscriptionEndsWithItsPeriod() async throws {
            try await withClub { store, observer, club in
                let first = try await subscribe(to: club, observer)
                let client = try store.client(account: "ada")
                let id = try #require(TransactionID(rawValue: first.id))
                let answer = try await client.raw(
                    .PUT,
                    store.urls.payments + Routes.autoRenew(id),
                    body: Array(#"{"isOn":false}"#.utf8)
                )
                #expect(answer.status == 200)
                try await expectOwned([first])
                _ = try await store.advanceClock("31d", from: try await store.readClock().now)
                try await expectOwned([])
                #expect(observer.transactions(.purchased).count == 1)
                // It begins again under the same id, and is paid at once.
                let again = try await subscribe(to: club, observer)
                #expect(again.original?.transactionIdentifier == first.transactionIdentifier)
                try await expectOwned([again])
            }
        }

        /// Waits until the account owns what these transactions gave it, and nothing else.
        private func expectOwned(_ transactions: [SKPaymentTransaction]) async throws {
            let expected = transactions.map(\.transactionIdentifier)
            try await eventually("\(transactions.count) entitlements") {
                let owned = try await SKPaymentTransaction.currentEntitlements.reduce(into: []) {
                    $0.append($1.transactionIdentifier)
                }
                return owned == expected ? true : nil
            }
        }

        @Test func everyChangeOfASubscriptionIsAnUpdate() async throws {
            try await withClub { store, observer, club in
                var updates = SubscriptionStatus.updates.makeAsyncIterator()
                let first = try await subscribe(to: club, observer)
                let begun = try await updates.next { $0.state == .subscribed }
                #expect(try begun.transaction.payloadValue.expirationDate != nil)
                let info = try begun.renewalInfo.payloadValue
                #expect("\(info.originalTransactionID)" == first.transactionIdentifier)
                #expect(info.willAutoRenew && info.renewalPrice == Decimal(string: "2.99"))
                let group = try await SubscriptionInfo.status(for: "club")
                #expect(group.map(\.transaction) == [begun.transaction])

                let now = try await store.advanceClock("31d", from: try await store.readClock().now)
                let renewed = try await updates.next { $0.transaction != begun.transaction }
                #expect(try renewed.transaction.payloadValue.reason == .renewal)

                try await renewed.cancel()
                _ = try await updates.next { !$0.renewalInfo.unsafePayloadValue.willAutoRenew }
                try await renewed.resume()
                _ = try await updates.next { $0.renewalInfo.unsafePayloadValue.willAutoRenew }
                try await renewed.cancel()
                _ = try await updates.next { !$0.renewalInfo.unsafePayloadValue.willAutoRenew }

                // Nothing is paid at the end of the period, so nothing comes through the queue.
                _ = try await store.advanceClock("31d", from: now)
                let over = try await updates.next { $0.state == .expired }
                let reason = over.renewalInfo.unsafePayloadValue.expirationReason
                #expect(reason == .autoRenewDisabled)
                let refusal = await #expect(throws: SKError.self) { try await over.resume() }
                #expect(refusal?.storeCode == "subscription_ended")
            }
        }

        /// Another device of the account cancels: this one is told without asking.
        @Test func aCancellationElsewhereIsAnUpdate() async throws {
            try await withClub { store, observer, club in
                var updates = SubscriptionStatus.updates.makeAsyncIterator()
                let first = try await subscribe(to: club, observer)
                _ = try await updates.next { $0.state == .subscribed }
                let client = try store.client(account: "ada")
                let id = try #require(TransactionID(rawValue: first.id))
                for isOn in [false, true] {
                    let answer = try await client.raw(
                        .PUT,
                        store.urls.payments + Routes.autoRenew(id),
                        body: Array(#"{"isOn":\#(isOn)}"#.utf8)
                    )
                    #expect(answer.status == 200)
                    let told = try await updates.next {
                        $0.renewalInfo.unsafePayloadValue.willAutoRenew == isOn
                    }
                    #expect(try told.renewalInfo.payloadValue.willAutoRenew == isOn)
                    #expect(told.state == .subscribed)
                }
            }
        }

        @Test func whatTheStoreRefusesIsAClearError() async throws {
            try await withClub { store, observer, club in
                let many = await #expect(throws: SKError.self) {
                    try await club.purchase(options: [.quantity(2)])
                }
                #expect(many?.code == .paymentInvalid)
                #expect(many?.storeCode == "quantity_out_of_range")
                _ = try await subscribe(to: club, observer)
                let again = await #expect(throws: SKError.self) { try await club.purchase() }
                #expect(again?.code == .paymentInvalid && again?.storeCode == "already_subscribed")
                #expect(again?.localizedDescription == "You have a subscription already.")
                try await eventually("the failures to be finished") {
                    SKPaymentQueue.default().transactions.isEmpty ? true : nil
                }
            }
        }

        /// Spec rule 117.
        @Test func anUpgradeIsPaidAtOnceAndReplacesWhatRuns() async throws {
            try await withClub { store, observer, club in
                let first = try await subscribe(to: club, observer)
                let gold = try await subscribe(to: try await product(SampleCatalog.gold), observer)
                #expect(gold.original?.transactionIdentifier == first.transactionIdentifier)
                #expect(gold.price == Decimal(string: "5.99"))
                try await expectOwned([gold])
                let subscription = try await store.newestPeriod()
                #expect(subscription.product.id == SampleCatalog.gold)
            }
        }
    }
}

extension SubscriptionStatus.Updates.AsyncIterator {
    /// Returns the next status for which a condition holds.
    fileprivate mutating func next(
        where isWanted: (SubscriptionStatus) -> Bool
    ) async throws -> SubscriptionStatus {
        while let status = await next() {
            if isWanted(status) { return status }
        }
        throw HarnessError("The updates ended.")
    }
}

extension RecordingObserver {
    /// Waits until a renewal is reported.
    fileprivate func renewal() async throws -> SKPaymentTransaction {
        try await eventually("a renewal to be reported") {
            self.transactions(.purchased).first { $0.original != nil }
        }
    }
}

extension StoreHarness {
    /// Sells the sample catalog, in which a product has a free week.
    fileprivate func offerTrial(of id: ProductID) async throws {
        var document = try SampleCatalog.document()
        let club = try #require(document.products[id])
        document.products[id]?.introductoryOffer = OfferTerms(
            mode: .freeTrial,
            period: SubscriptionPeriod(1, .week),
            prices: club.prices.mapValues { .zero($0.currency) }
        )
        _ = try await administrator.importCatalog(document).value
        try await waitUntilSellable(id)
    }

    /// Sells the sample catalog, in which the product has no offer.
    fileprivate func endTrial(of id: ProductID) async throws {
        _ = try await administrator.importCatalog(try SampleCatalog.document()).value
        let probe = try client(account: "catalog-probe")
        var request = PaymentRequest.sample(id)
        request.offer = ShownOffer(type: .introductory)
        // A payment that would get the offer is refused for another reason.
        request.paymentMethod = "no_such_method"
        try await eventually("payments to know that the trial is over") { () -> Bool? in
            let answer = try await probe.add(request)
            guard try !answer.asksToTryAgain, let problem = answer.problem else { return nil }
            return problem.code == "offer_not_available" ? true : nil
        }
    }

    /// The end of what the subscription gives its account.
    fileprivate func endOfTheClub() async throws -> StoreTime {
        try await eventually("the subscription to be owned") {
            try await client(account: "ada").entitlements().value.entitlements.first?.endsAt
        }
    }

    /// The newest period of the account's only subscription.
    fileprivate func newestPeriod() async throws -> PaidPeriod {
        let client = try client(account: "ada")
        let answer = try await client.raw(.GET, urls.payments + Routes.subscriptions)
        let all = try answer.decode(SubscriptionsResponse.self).subscriptions
        return try #require(all.first).period
    }
}

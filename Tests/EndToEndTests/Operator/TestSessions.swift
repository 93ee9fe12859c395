import EventTypes
import PaymentQueue
import StoreAPI
import StoreTest
import Testing
import TestSupport

extension EndToEnd {
    /// A sandbox that does what the tests of an app ask, through the library that they link.
    @Suite(.onlySandbox("It has the sandbox do what a test asks."))
    struct TestSessions {
        @Test func theNextChargeFailsAndTheOneAfterItSucceeds() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let session = store.testSession()
                try await session.failNextCharge(.insufficientFunds)
                let failed = try await store.state(of: SampleCatalog.coins, in: session)
                #expect(failed.state == .failed && failed.failureReason == .insufficientFunds)
                let paid = try await store.state(of: SampleCatalog.coins, in: session)
                #expect(paid.state == .purchased)
                // Another account is not tested.
                try await session.failNextCharge(.declined)
                session.clearTransactions()
                let other = try await store.state(of: SampleCatalog.coins, in: session)
                #expect(other.state == .purchased && other.accountID != paid.accountID)
            }
        }

        @Test func aPurchaseOutsideTheAppReachesItsQueue() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let session = store.testSession()
                let bought = try await session.buyProduct(SampleCatalog.coins.rawValue, quantity: 2)
                let queued = try await eventually("the purchase") { () -> EventTypes.Transaction? in
                    try await session.unfinishedTransactions().first {
                        $0.id == bought.id && $0.state == .purchased
                    }
                }
                #expect(queued.accountID == session.account && queued.quantity == 2)
                await #expect(throws: StoreTestError.notSold(product: "nothing")) {
                    try await session.buyProduct("nothing")
                }
            }
        }

        @Test func purchasesAskAParentOrAreInterrupted() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let session = store.testSession()
                try await session.setAskToBuyEnabled(true)
                let asked = try await store.state(of: SampleCatalog.coins, in: session)
                #expect(asked.state == .deferred)
                try await session.approveAskToBuyTransaction(asked.id)
                try await store.client(account: session.account.rawValue)
                    .wait(for: asked.id, toBe: .purchased)
                try await session.refundTransaction(asked.id)
                try await session.setAskToBuyEnabled(false)
                try await session.setInterruptedPurchasesEnabled(true)
                let interrupted = try await store.state(of: SampleCatalog.coins, in: session)
                #expect(interrupted.failureReason == .interrupted)
                let resumed = try await session.resolveInterruptedTransaction(interrupted.id)
                try await store.client(account: session.account.rawValue)
                    .wait(for: resumed, toBe: .purchased)
                try await session.resetToDefaultState()
                let paid = try await store.state(of: SampleCatalog.coins, in: session)
                #expect(paid.state == .purchased)
            }
        }

        @Test func aSubscriptionIsRenewedLeftUnpaidResolvedAndEnded() async throws {
            try await withStore { store in
                try await store.addSubscription()
                let session = store.testSession()
                let club = SampleCatalog.club.rawValue
                let bought = try await store.state(of: SampleCatalog.club, in: session)
                #expect(bought.state == .purchased)
                let first = try await session.subscription(to: club).period

                try await session.forceRenewal(of: club)
                let second = try await eventually("the forced renewal") { () -> PaidPeriod? in
                    let period = try await session.subscription(to: club).period
                    return period.transactionID != first.transactionID ? period : nil
                }
                #expect(second.start < first.end && second.end < first.end.advanced(by: .days(31)))

                try await session.setBillingGracePeriodEnabled(true)
                try await session.setShouldEnterBillingRetryOnRenewal(true)
                try await session.advance(by: .days(32))
                #expect(try await session.subscription(to: club).state == .inGracePeriod)
                try await session.setBillingGracePeriodEnabled(false)
                try await session.resolveBillingIssue(of: club)
                try await eventually("the billing issue to be resolved") { () -> Bool? in
                    try await session.subscription(to: club).state == .active ? true : nil
                }

                try await session.advance(by: .days(62))
                #expect(try await session.subscription(to: club).state == .inBillingRetryPeriod)
                try await session.resolveBillingIssue(of: club)
                try await eventually("the second issue to be resolved") { () -> Bool? in
                    try await session.subscription(to: club).state == .active ? true : nil
                }
                try await session.expireSubscription(to: club, intent: .billingError)
                let ended = try await session.subscription(to: club)
                #expect(ended.state == .expired && ended.expirationIntent == .billingError)
                await #expect(throws: StoreTestError.self) {
                    try await session.forceRenewal(of: club)
                }
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        @Test func aSubscriberIsAskedAboutAHigherPrice() async throws {
            try await withStore { store in
                try await store.addSubscription()
                let club = SampleCatalog.club.rawValue
                let sessions = [store.testSession(), store.testSession()]
                for session in sessions {
                    let bought = try await store.state(of: SampleCatalog.club, in: session)
                    #expect(bought.state == .purchased)
                }
                let old = try await sessions[0].subscription(to: club).product.price
                let price = Money(minorUnits: old.minorUnits * 4, currency: old.currency)
                var draft = SampleCatalog.subscription(SampleCatalog.club)
                for storefront in draft.prices.keys { draft.prices[storefront] = price }
                _ = try await store.administrator.put(draft, as: SampleCatalog.club)
                for session in sessions {
                    try await session.requestPriceIncreaseConsent(to: club, price: price)
                    let asked = try await session.subscription(to: club)
                    #expect(asked.priceIncrease?.status == .pending && asked.nextPrice == old)
                }
                try await sessions[0].answerPriceIncrease(of: club, isAgreed: true)
                try await sessions[0].advance(by: .days(33))
                let agreed = try await sessions[0].subscription(to: club)
                #expect(agreed.state == .active && agreed.period.price == price)
                let silent = try await sessions[1].subscription(to: club)
                #expect(silent.expirationIntent == .didNotConsentToPriceIncrease)
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        @Test func theCommandLineRaisesEverySubscriberOnce() async throws {
            try await withStore { store in
                try await store.addSubscription()
                let club = SampleCatalog.club.rawValue
                let sessions = [store.testSession(), store.testSession()]
                for session in sessions {
                    _ = try await store.state(of: SampleCatalog.club, in: session)
                }
                let raise = ["subscriptions", "raise", club, "USA", "3.29", "--json"]
                let tooHigh = try await store.counterfoil(raise)
                #expect(tooHigh.exit != .code(0), "\(tooHigh.output)")

                var draft = SampleCatalog.subscription(SampleCatalog.club)
                draft.prices = draft.prices.mapValues {
                    Money(minorUnits: $0.minorUnits + 30, currency: $0.currency)
                }
                _ = try await store.administrator.put(draft, as: SampleCatalog.club)
                // payments refuses a raise until it has learnt the new price.
                try await eventually("the raise") { () -> Bool? in
                    let planned = try await store.counterfoil(raise + ["--dry-run"])
                    #expect(planned.output.contains(#""raised" : 2"#), "\(planned.output)")
                    return try await store.counterfoil(raise).exit == .code(0) ? true : nil
                }
                let again = try await store.counterfoil(raise)
                #expect(again.output.contains(#""raised" : 2"#), "\(again.output)")
                for session in sessions {
                    let raised = try await session.subscription(to: club)
                    #expect(raised.priceIncrease?.price.minorUnits == 329)
                    #expect(raised.state == .active)
                }
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }

        @Test func theCommandLineAsksAboutAPriceAndAnswers() async throws {
            try await withStore { store in
                try await store.addSubscription()
                let session = store.testSession()
                let club = SampleCatalog.club.rawValue
                _ = try await store.state(of: SampleCatalog.club, in: session)
                let id = try await session.subscription(to: club).id.rawValue
                let asked = try await store.counterfoil("test", "raise", id, "11.96")
                #expect(asked.output.contains("price increase to 11.96 USD, pending"), "\(asked)")
                let agreed = try await store.counterfoil("test", "answer", id, "agree")
                #expect(agreed.output.contains("price increase to 11.96 USD, agreed"), "\(agreed)")
                let increase = try await session.subscription(to: club).priceIncrease
                #expect(increase?.status == .agreed)
                let wrong = try await store.counterfoil("test", "raise", id, "11,96")
                #expect(wrong.exit == .code(64), "\(wrong)")
                let account = session.account.rawValue
                let moved = try await store.counterfoil("test", "storefront", account, "FRA")
                #expect(moved.output == "\(account) buys in FRA.\n", "\(moved)")
                let now = try await store.client(account: account).storeAccount().value.account
                #expect(now.storefront?.rawValue == "FRA")
            }
        }

        @Test func theCommandLineRenewsResolvesAndEndsASubscription() async throws {
            try await withStore { store in
                try await store.addSubscription()
                let session = store.testSession()
                let club = SampleCatalog.club.rawValue
                _ = try await store.state(of: SampleCatalog.club, in: session)
                let bought = try await session.subscription(to: club)
                let id = bought.id.rawValue
                let renewed = try await store.counterfoil("test", "renew", id)
                #expect(renewed.exit == .code(0), "\(renewed)")
                try await eventually("the renewal") { () -> Bool? in
                    let period = try await session.subscription(to: club).period
                    return period.transactionID != bought.period.transactionID ? true : nil
                }

                try await session.setShouldEnterBillingRetryOnRenewal(true)
                try await session.advance(by: .days(62))
                #expect(try await session.subscription(to: club).state == .inBillingRetryPeriod)
                let resolved = try await store.counterfoil("test", "resolve", id)
                #expect(resolved.exit == .code(0), "\(resolved)")
                try await eventually("the billing issue to be resolved") { () -> Bool? in
                    try await session.subscription(to: club).state == .active ? true : nil
                }

                let expired = try await store.counterfoil("test", "expire", id, "--intent", "2")
                #expect(expired.exit == .code(0), "\(expired)")
                let ended = try await session.subscription(to: club)
                #expect(ended.state == .expired && ended.expirationIntent == .billingError)
                let refused = try await store.counterfoil("test", "renew", id)
                #expect(refused.exit == .code(1), "\(refused)")
            }
        }

        @Test func theCommandLineSetsWhatATestNeeds() async throws {
            try await withStore { store in
                let set = try await store.counterfoil(
                    "test",
                    "set",
                    "ada",
                    "--fail",
                    "declined",
                    "--times",
                    "2",
                    "--grace"
                )
                #expect(set.exit == .code(0), "\(set)")
                let shown = try await store.counterfoil("test", "show", "ada", "--json")
                #expect(shown.output.contains(#""reason" : "declined""#), "\(shown)")
                let reset = try await store.counterfoil("test", "reset", "ada")
                #expect(reset.output.contains("next charges:          as the store"), "\(reset)")
                let unknown = try await store.counterfoil("test", "renew", "7")
                #expect(unknown.exit == .code(1), "\(unknown)")
            }
        }
    }
}

extension StoreHarness {
    /// A session on this store, as an app's tests begin one.
    fileprivate func testSession() -> StoreTestSession {
        let keys = keys
        return StoreTestSession(
            addresses: StoreConfiguration.Addresses(
                catalog: urls.catalog,
                payments: urls.payments,
                fulfillment: urls.fulfillment,
                receipts: urls.receipts
            ),
            bundleID: StoreKeys.bundleID,
            accountToken: { try keys.token(account: $0) },
            administratorToken: { try keys.administratorToken() }
        )
    }

    /// Buys a product with the session's account, and waits until the purchase has ended or waits.
    fileprivate func state(
        of product: ProductID,
        in session: StoreTestSession
    ) async throws -> EventTypes.Transaction {
        let client = try client(account: session.account.rawValue)
        let id = try await client.addUntilAnswered(.sample(product)).value.transaction.id
        return try await eventually("the purchase to end") { () -> EventTypes.Transaction? in
            let transaction = try await client.transaction(id).value.transaction
            return transaction.state == .purchasing ? nil : transaction
        }
    }
}

extension Duration {
    fileprivate static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}

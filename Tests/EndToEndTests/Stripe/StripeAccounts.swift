import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

extension EndToEnd {
    /// A store whose two apps may have an account at Stripe each.
    ///
    /// Ada buys in the app with the default account, and Bob in the other one.
    @Suite
    struct StripeAccounts {
        private static let chess = BundleID(unchecked: "com.example.chess")
        private static let apps = "com.example.chess=games"

        @Test func eachAppIsChargedAtItsAccountAndNowhereElse() async throws {
            try await Self.run(apps: Self.apps) { shop in
                let (ada, bob) = (try shop.ada, try shop.bob)
                let (mine, his) = (try await shop.buy(as: ada), try await shop.buy(as: bob))
                try await shop.expectWhole([mine], boughtBy: ada, [his], boughtBy: bob)
                try shop.expectCharges(first: [mine], games: [his])
                // Nobody reads the lists of events here, so webhooks have told of these.
                try await eventually("a webhook of each account") {
                    shop.first.takenWebhooks > 0 && shop.games.takenWebhooks > 0 ? true : nil
                }
                _ = try await shop.store.administrator.refund(his.transactionID)
                try await shop.store.expectOne("refund", of: his.transactionID)
                let charge = shop.first.payment(ofTransaction: mine.transactionID.rawValue)
                try shop.first.dispute(payment: try #require(charge))
                try await shop.store.expectOne("chargeback", of: mine.transactionID)
                #expect(shop.first.entries.map(\.kind) == ["charge"])
                #expect(shop.games.entries.map(\.kind) == ["charge", "refund"])
                #expect(shop.first.withdrawn.count == 1 && shop.games.withdrawn.isEmpty)
                try await shop.expectNamed(["default", "games"])
            }
        }

        /// The process is killed while the last charge by the old card is under way.
        @Test func anAppThatMovesIsChargedWhereItsCardsAre() async throws {
            try await Self.run(apps: nil) { shop in
                let (ada, bob) = (try shop.ada, try shop.bob)
                let before = try await shop.buy(as: bob)
                try await bob.wait(for: before.transactionID, toBe: .purchased)
                shop.first.inject(
                    StandInFault(
                        .slow(.seconds(2)),
                        path: "/v1/payment_intents",
                        method: "POST"
                    )
                )
                let calls = shop.first.paymentCalls
                let open = try await shop.buy(as: bob)
                try await eventually("a call") {
                    shop.first.paymentCalls > calls ? true : nil
                }
                try await shop.move()
                try await bob.wait(for: open.transactionID, toBe: .purchased)
                var request = PaymentRequest.sample()
                request.paymentMethod = try await shop.stripe.saved(.success, of: bob)
                let refused = try await bob.add(request)
                #expect(refused.problem?.code == "payment_method_unknown")
                shop.stripe.forgetCards()
                let after = try await shop.buy(as: bob)
                let mine = try await shop.buy(as: ada)
                try await shop.expectWhole(
                    [mine],
                    boughtBy: ada,
                    [before, open, after],
                    boughtBy: bob
                )
                try shop.expectCharges(first: [before, open, mine], games: [after])
                // What was bought before the move goes back where it was taken.
                _ = try await shop.store.administrator.refund(before.transactionID)
                try await shop.store.expectOne("refund", of: before.transactionID)
                #expect(shop.first.entries.last?.kind == "refund")
                #expect(shop.games.entries.map(\.kind) == ["charge"])
            }
        }

        @Test func aSubscriptionRenewsWhereItsCardIsAfterAMove() async throws {
            try await Self.run(apps: nil) { shop in
                let (store, bob) = (shop.store, try shop.bob)
                try await store.addSubscription()
                _ = try await store.setClock(Routes.adminClockFreeze)
                let id = try await shop.buy(SampleCatalog.club, as: bob).transactionID
                try await bob.wait(for: id, toBe: .purchased)
                try await shop.move()
                _ = try await store.advanceClock("31d", from: try await store.readClock().now)
                try await eventually("the renewal by the old card") {
                    shop.first.entries.count == 2 ? true : nil
                }
                shop.stripe.forgetCards()
                let card = try await shop.stripe.saved(.success, of: bob)
                #expect(try await bob.choose(card, for: id).status == 200)
                _ = try await store.advanceClock("31d", from: try await store.readClock().now)
                try await eventually("the renewal by the new card") {
                    shop.games.entries.count == 1 ? true : nil
                }
                #expect(shop.first.entries.map(\.kind) == ["charge", "charge"])
                try await eventually(every: .milliseconds(200), "books that agree") {
                    () async throws -> Bool? in
                    try await store.reconcile().differences.isEmpty ? true : nil
                }
                #expect(shop.games.entries.map(\.kind) == ["charge"])
            }
        }

        @Test func aRevokedKeyStopsThePurchasesOfItsAppOnly() async throws {
            try await Self.run(apps: Self.apps) { shop in
                let (ada, bob) = (try shop.ada, try shop.bob)
                var mine = [try await shop.buy(as: ada)]
                var his = [try await shop.buy(as: bob)]
                try await bob.wait(for: his[0].transactionID, toBe: .purchased)
                shop.stripe.revokeKey(of: "games")
                his.append(try await shop.buy(as: bob))
                let payments = shop.store.process(.payments)
                try await eventually("the account to be named") { () async throws -> Bool? in
                    let ready = try await StoreHTTP.send(.GET, payments.url + "/health/ready")
                    #expect(ready.status == 200)
                    return ready.text.contains("for the account games") ? true : nil
                }
                for isKilled in [false, true] {
                    if isKilled { try await shop.killPayments() }
                    mine.append(try await shop.buy(as: ada))
                    try await ada.wait(
                        for: try #require(mine.last).transactionID,
                        toBe: .purchased
                    )
                }
                let waiting = try await bob.transaction(his[1].transactionID)
                #expect(waiting.valueIfAny?.transaction.state == .purchasing)
                let file = shop.store.keys.directory + "/stripe-accounts/games/key"
                try Data(shop.stripe.issueKey(of: "games").utf8)
                    .write(to: URL(fileURLWithPath: file))
                // A refused key is not used for half a minute.
                try await bob.wait(
                    for: his[1].transactionID,
                    toBe: .purchased,
                    within: .seconds(120)
                )
                try await shop.expectWhole(mine, boughtBy: ada, his, boughtBy: bob)
                try shop.expectCharges(first: mine, games: his)
            }
        }

        /// Two workers leave eight batches each to themselves, and then wait for one each.
        ///
        /// Each payment is a batch. So if both apps shared their workers, nothing would be charged for half
        /// a minute.
        @Test func anAccountThatHangsHoldsUpNoOtherApp() async throws {
            let settings = [
                "STRIPE_TIMEOUT_MS": "30000", "PROCESSOR_LEASE_MS": "33000",
                "PROCESSOR_BATCH_MAX": "1",
            ]
            try await Self.run(apps: Self.apps, settings) { shop in
                let (ada, bob) = (try shop.ada, try shop.bob)
                var mine = [try await shop.buy(as: ada)]
                var his = [try await shop.buy(as: bob)]
                try await bob.wait(for: his[0].transactionID, toBe: .purchased)
                let calls = shop.games.paymentCalls
                shop.games.inject(StandInFault(.silent, count: .max))
                for _ in 1...24 { his.append(try await shop.buy(as: bob)) }
                try await eventually("a call that hangs") {
                    shop.games.paymentCalls > calls ? true : nil
                }
                for isKilled in [false, true] {
                    if isKilled { try await shop.killPayments() }
                    for _ in 1...3 {
                        let payment = try await shop.buy(as: ada)
                        mine.append(payment)
                        // It waits for none of the calls that hang, which end after half a minute.
                        try await ada.wait(
                            for: payment.transactionID,
                            toBe: .purchased,
                            within: .seconds(27)
                        )
                    }
                }
                let waiting = try await bob.transaction(his[1].transactionID)
                #expect(waiting.valueIfAny?.transaction.state == .purchasing)
                shop.games.clearFaults()
                for payment in his {
                    try await bob.wait(
                        for: payment.transactionID,
                        toBe: .purchased,
                        within: .seconds(180)
                    )
                }
                try await shop.expectWhole(mine, boughtBy: ada, his, boughtBy: bob)
                try shop.expectCharges(first: mine, games: his)
            }
        }

        /// Runs a store with two accounts and two apps.
        private static func run(
            apps: String?,
            _ settings: [String: String] = [:],
            _ body: @escaping @Sendable (Shop) async throws -> Void
        ) async throws {
            var options = StoreOptions()
            options.processor = .stripe
            options.stripeAccounts = ["games"]
            options.furtherApps = [chess]
            // Nothing but webhooks tells of events.
            var own = ["STRIPE_EVENTS_MS": "86400000"].merging(settings) { $1 }
            own["STRIPE_APPS"] = apps
            options.settings[.payments] = own
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let stripe = try #require(store.stripe)
                let games = try #require(stripe.server.account(named: "games"))
                try await body(Shop(store: store, stripe: stripe, games: games))
            }
        }

        /// The store, and its accounts at Stripe.
        private struct Shop: Sendable {
            let store: StoreHarness
            let stripe: StoreStripe
            let games: StandInServer

            /// The default account.
            var first: StandInServer { stripe.server }
            var ada: StoreClient { get throws { try store.client(account: "ada") } }
            var bob: StoreClient {
                get throws { try store.client(account: "bob", of: StripeAccounts.chess) }
            }

            /// Pays with a card that is saved at the account of the buyer's app.
            func buy(
                _ product: ProductID = SampleCatalog.coins,
                as client: StoreClient
            ) async throws -> AcceptedPayment {
                let answer = try await client.addUntilAnswered(.sample(product))
                return AcceptedPayment(
                    transactionID: try answer.value.transaction.id,
                    account: client.account
                )
            }

            /// Kills `payments`, and gives Bob's app the other account.
            func move() async throws {
                store.process(.payments).set(["STRIPE_APPS": StripeAccounts.apps])
                try await killPayments()
            }

            func killPayments() async throws {
                try await store.process(.payments).restart()
                try await store.process(.payments).waitUntilReady()
            }

            /// Finishes what two buyers have bought, and expects that nothing is lost or doubled in the
            /// books of the store and of both accounts.
            func expectWhole(
                _ mine: [AcceptedPayment],
                boughtBy ada: StoreClient,
                _ his: [AcceptedPayment],
                boughtBy bob: StoreClient
            ) async throws {
                for (client, payments) in [(ada, mine), (bob, his)] {
                    for payment in payments {
                        try await client.finishUntilDone(payment.transactionID)
                    }
                }
                let report = try await store.quietAudit(mine + his)
                #expect(report.violations.isEmpty, "\(report.verdict)")
                #expect(report.count("purchased") == mine.count + his.count)
                #expect(report.count("charges at Stripe") == mine.count + his.count)
                try await store.expectSealed()
            }

            /// Expects that each account has charged for its payments, once for each, and for no other.
            func expectCharges(first: [AcceptedPayment], games: [AcceptedPayment]) throws {
                for (account, payments) in [(self.first, first), (self.games, games)] {
                    let charged = account.entries.filter { $0.kind == "charge" }.map(\.transaction)
                    #expect(charged.sorted() == payments.map(\.transactionID.rawValue).sorted())
                }
            }

            /// Charges a stranger at each account, and expects `reconcile` to name the account of each.
            func expectNamed(_ accounts: [String]) async throws {
                for account in accounts {
                    let strange = try await stripe.post(
                        "payment_intents",
                        "amount=500&currency=usd&payment_method=pm_card_visa&confirm=true",
                        to: account
                    )
                    #expect(strange.status == 200, "\(strange.text)")
                }
                let found = try await eventually(
                    every: .milliseconds(200),
                    "a difference at each account"
                ) {
                    let found = try await store.reconcile().differences
                    return found.count == accounts.count ? found : nil
                }
                #expect(Set(found.map(\.kind)) == ["chargeUnknown"])
                // The default account has no name.
                #expect(found.filter { $0.detail.contains(", account games") }.count == 1)
                #expect(found.filter { !$0.detail.contains(", account ") }.count == 1)
            }
        }
    }
}

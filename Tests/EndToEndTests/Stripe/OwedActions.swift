import EventTypes
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

extension EndToEnd {
    /// Charges for a period that is owed, by a card whose bank wants to see its buyer each time.
    @Suite
    struct OwedActions {
        /// `payments` is killed before it has written that the charge waits, or that it is paid.
        @Test(arguments: [false, true])
        func whatIsOwedIsConfirmedOnceAfterAKill(isConfirmed: Bool) async throws {
            try await withStripe { store, stripe in
                let client = try store.client(account: "ada")
                let (id, card) = try await owe(in: store, at: stripe)
                let statement = isConfirmed ? "INTO ledger_postings" : "step = coalesce(u.step"
                let hold = try store.hold(.payments, .beforeCommit(ofTransactionWith: statement))
                let asked = try await client.choose(card, for: id)
                #expect(asked.status == 200)
                if !isConfirmed { try await store.crash(.payments, at: hold) }
                let page = try await findPage(ofSubscription: id, of: client)
                #expect(
                    try await store.client(account: "bob").action(ofSubscription: id).status == 404
                )
                #expect(!store.process(.payments).log().contains(page.url))
                try confirm(page, at: stripe)
                if isConfirmed { try await store.crash(.payments, at: hold) }
                let paid = try await client.settledSubscription(.active)
                #expect(paid.renewalProblem == nil)
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])
                try await eventually(every: .milliseconds(200), "books that agree") {
                    () async throws -> Bool? in
                    try await store.reconcile().differences.isEmpty ? true : nil
                }
            }
        }

        /// Begins a subscription whose renewals its bank declines, as it wants to see the buyer.
        private func owe(
            in store: StoreHarness,
            at stripe: StoreStripe
        ) async throws -> (id: TransactionID, card: PaymentMethod) {
            let client = try store.client(account: "ada")
            try await store.addSubscription()
            _ = try await store.setClock(Routes.adminClockFreeze)
            let card = try await stripe.save("pm_card_authenticationRequired", of: client)
            var request = PaymentRequest.sample(SampleCatalog.club)
            request.paymentMethod = card
            let id = try await client.addUntilAnswered(request).value.transaction.id
            let page = try await eventually("a page") {
                try await client.action(of: id).valueIfAny
            }
            try confirm(page, at: stripe)
            _ = try await client.wait(for: id, toBe: .purchased)
            try await client.finishUntilDone(id)
            _ = try await store.advanceClock("32d", from: try await store.readClock().now)
            let owed = try await client.settledSubscription(.inBillingRetryPeriod)
            #expect(owed.renewalProblem == .buyerMustAct)
            #expect(stripe.server.entries.map(\.kind) == ["charge"])
            return (id, card)
        }

        private func findPage(
            ofSubscription id: TransactionID,
            of client: StoreClient
        ) async throws -> BuyerActionResponse {
            try await eventually("a page for what is owed") {
                try await client.action(ofSubscription: id).valueIfAny
            }
        }

        private func confirm(_ page: BuyerActionResponse, at stripe: StoreStripe) throws {
            let payment = try #require(page.url.split(separator: "/").last)
            try stripe.server.end(payment: String(payment), succeeds: true)
        }

        /// Runs a store that charges at a stand-in for Stripe, with a proxy before its database.
        private func withStripe(
            _ body: @escaping @Sendable (StoreHarness, StoreStripe) async throws -> Void
        ) async throws {
            var options = StoreOptions.with(postgresProxies: [.payments])
            options.processor = .stripe
            // Long enough for a restart on a busy machine.
            options.settings[.payments] = ["ACTION_EXPIRY_MS": "120000"]
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                try await body(store, try #require(store.stripe))
            }
        }
    }
}

extension StoreClient {
    /// Waits until the account's subscription is in a state and no charge for it is under way.
    fileprivate func settledSubscription(_ state: SubscriptionState) async throws -> Subscription {
        try await eventually("a subscription that is \(state)") {
            let known = try await self.subscriptions().valueIfAny?.subscriptions.first
            return known.flatMap { $0.state == state && $0.charge == nil ? $0 : nil }
        }
    }
}

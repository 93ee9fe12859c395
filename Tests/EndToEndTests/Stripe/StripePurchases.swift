import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StripeStandIn
import TestSupport
import Testing

extension EndToEnd {
    /// A store that charges at a stand-in for Stripe, whose books are compared with the store's.
    @Suite
    struct StripePurchases {
        @Test func purchasesDeclinesAndRefundsAgreeWithStripe() async throws {
            try await withStripe { store, stripe in
                let card = try await store.saveCard("pm_card_visa", at: stripe)
                let bought = try await store.pay(by: card)
                try await store.wait(bought, toBe: .purchased)
                try await store.client(account: "ada").finishUntilDone(bought)
                // After the refund the fee is owed, and nothing is left to pay out.
                try stripe.server.payOut("usd")
                let broke = try await store.saveCard(
                    "pm_card_visa_chargeDeclinedInsufficientFunds",
                    at: stripe
                )
                let declined = try await store.wait(try await store.pay(by: broke), toBe: .failed)
                #expect(declined.failureReason == .insufficientFunds)
                let other = try await store.client(account: "bob").add(
                    .saved(by: card),
                    key: "b"
                )
                #expect(other.problem?.code == "payment_method_unknown")
                let refund = try await store.administrator.refund(bought)
                #expect(refund.status == 200 || refund.status == 202)
                let returned = try await eventually("the refund") {
                    let found = try await store.client(account: "ada").transaction(bought)
                    return found.valueIfAny?.transaction.revokedAt
                }
                #expect(returned.millisecondsSinceEpoch > 0)
                #expect(stripe.server.entries.map(\.kind) == ["charge", "refund"])
                #expect(Set(stripe.server.entries.map(\.amount)) == [99])
                // A refund takes a moment to reach every book.
                let books = try await eventually("books that agree") {
                    let books = try await store.compareWithStripe(2)
                    return books.differences.isEmpty ? books : nil
                }
                #expect(books.processor.count == 1)
            }
        }

        @Test func reconcileNamesWhatStripeAndTheBooksDisagreeAbout() async throws {
            try await withStripe { store, stripe in
                let card = try await store.saveCard("pm_card_visa", at: stripe)
                let bought = try await store.pay(by: card)
                try await store.wait(bought, toBe: .purchased)
                try await store.client(account: "ada").finishUntilDone(bought)
                // Somebody charges, and gives a part of the purchase back, on Stripe's own pages.
                let strange = try await stripe.post(
                    "payment_intents",
                    "amount=500&currency=usd&payment_method=pm_card_visa&confirm=true"
                )
                #expect(strange.status == 200)
                let charge = try #require(stripe.server.succeededPayments.first)
                let part = try await stripe.post("refunds", "payment_intent=\(charge)&amount=10")
                #expect(part.status == 200)
                let kinds = try await eventually("two differences") {
                    let books = try await store.compareWithStripe(1)
                    let kinds = books.differences.map(\.kind)
                    return kinds.count == 2 ? kinds : nil
                }
                #expect(kinds.sorted() == ["chargeUnknown", "refundDiffers"])
            }
        }

        /// Every webhook comes twice and newest first.
        @Test func aBuyerActsAtTheBankAndWebhooksTellTheResult() async throws {
            try await withStripe { store, stripe in
                let secured = try await store.saveCard("pm_card_threeDSecure2Required", at: stripe)
                for succeeds in [true, false] {
                    let id = try await store.pay(by: secured)
                    let page = try await eventually("a page") {
                        try await store.client(account: "ada").action(of: id).valueIfAny
                    }
                    #expect(try await store.client(account: "bob").action(of: id).status == 404)
                    #expect(!store.process(.payments).log().contains(page.url))
                    let payment = try #require(page.url.split(separator: "/").last)
                    try stripe.server.end(payment: String(payment), succeeds: succeeds)
                    try await store.wait(id, toBe: succeeds ? .purchased : .failed)
                }
                let slow = try await store.saveCard("pm_standInProcessing", at: stripe)
                for succeeds in [true, false] {
                    let id = try await store.pay(by: slow)
                    let payment = try await eventually("a payment that is processed") {
                        stripe.server.processedPayments.first
                    }
                    try stripe.server.end(payment: payment, succeeds: succeeds)
                    try await store.wait(id, toBe: succeeds ? .purchased : .failed)
                }
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])
            }
        }

        @Test(arguments: [
            StandInFault.Kind.lostBefore, .lostAfter, .errorAfter, .slow(.seconds(2)),
        ])
        func killedAtTheCallItChargesOnce(fault: StandInFault.Kind) async throws {
            try await withStripe { store, stripe in
                let card = try await store.saveCard("pm_card_visa", at: stripe)
                let calls = stripe.server.paymentCalls
                stripe.server.inject(
                    StandInFault(fault, path: "/v1/payment_intents", method: "POST")
                )
                let id = try await store.pay(by: card)
                _ = try await eventually("a call") {
                    stripe.server.paymentCalls > calls ? true : nil
                }
                await store.process(.payments).kill()
                try await store.process(.payments).start()
                try await store.process(.payments).waitUntilReady()
                try await store.wait(id, toBe: .purchased)
                try await store.client(account: "ada").finishUntilDone(id)
                #expect(stripe.server.entries.map(\.kind) == ["charge"])
            }
        }

        @Test func aSubscriptionIsRenewedWhileItsBuyerIsAway() async throws {
            try await withStripe { store, stripe in
                try await store.addSubscription()
                _ = try await store.setClock(Routes.adminClockFreeze)
                // The bank asks unless the buyer has agreed at the setup.
                let card = try await store.saveCard(
                    "pm_card_authenticationRequiredOnSetup",
                    at: stripe
                )
                let first = try await store.pay(for: SampleCatalog.club, by: card)
                let page = try await eventually("a page") {
                    try await store.client(account: "ada").action(of: first).valueIfAny
                }
                let payment = try #require(page.url.split(separator: "/").last)
                try stripe.server.end(payment: String(payment), succeeds: true)
                try await store.wait(first, toBe: .purchased)
                _ = try await store.advanceClock("31d", from: try await store.readClock().now)
                _ = try await eventually("the renewal's charge") {
                    stripe.server.entries.count == 2 ? true : nil
                }
                let queued = try await eventually("the renewal in the queue") {
                    let answer = try await store.client(account: "ada").unfinished()
                    let queue = answer.valueIfAny?.transactions ?? []
                    return queue.count == 2 ? queue : nil
                }
                #expect(Set(queued.map(\.transaction.reason)) == [.purchase, .renewal])
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])
            }
        }

        /// The clock stands still, so only the new card can be the reason of the charge.
        @Test(arguments: [true, false])
        func whatIsOwedIsChargedOnceThereIsAWorkingCard(isNew: Bool) async throws {
            try await withStripe { store, stripe in
                try await store.addSubscription()
                _ = try await store.setClock(Routes.adminClockFreeze)
                let card = try await store.saveCard("pm_standInDeclinedAway", at: stripe)
                let first = try await store.pay(for: SampleCatalog.club, by: card)
                try await store.wait(first, toBe: .purchased)
                _ = try await store.advanceClock("32d", from: try await store.readClock().now)
                let client = try store.client(account: "ada")
                func wait(for state: SubscriptionState) async throws {
                    try await eventually("a subscription that is \(state)") {
                        let known = try await client.subscriptions().valueIfAny?.subscriptions
                        return known?.first?.state == state ? true : nil
                    }
                }
                try await wait(for: .inBillingRetryPeriod)
                #expect(stripe.server.entries.count == 1)
                if isNew {
                    _ = try await store.saveCard("pm_card_visa", at: stripe)
                } else {
                    try stripe.server.replaceCard(of: card.rawValue)
                }
                try await wait(for: .active)
                #expect(stripe.server.entries.map(\.kind) == ["charge", "charge"])
            }
        }

        @Test func noCardNumberIsTaken() async throws {
            try await withStripe { store, _ in
                let client = try store.client(account: "ada")
                let number = "4242424242424242"
                let fields = ["productID", "storefront", "paymentMethod", "applicationUsername"]
                let sample = try JSONEncoder().encode(PaymentRequest.saved(by: "pm_1"))
                for field in fields + ["quantity", "key"] {
                    var body = try #require(
                        try JSONSerialization.jsonObject(with: sample) as? [String: Any]
                    )
                    if field == "quantity" { body[field] = Int64(number) }
                    if fields.contains(field) { body[field] = number }
                    let key = field == "key" ? number : field
                    let answer = try await client.raw(
                        .POST,
                        store.urls.payments + Routes.payments,
                        body: Array(try JSONSerialization.data(withJSONObject: body)),
                        headers: [("content-type", "application/json"), ("idempotency-key", key)]
                    )
                    #expect((400..<500).contains(answer.status), "\(field)")
                    // A storefront and a quantity are refused for their form.
                    if field == "storefront" || field == "quantity" { continue }
                    #expect(answer.text.contains("card_number_refused"), "\(field)")
                }
                #expect(try await client.unfinished().valueIfAny?.transactions == [])
                #expect(!store.process(.payments).log().contains(number))
            }
        }

        @Test func noCardNumberIsTakenByARouteThatIsNoPayment() async throws {
            try await withStripe { store, stripe in
                let (client, admin) = (try store.client(account: "ada"), try store.administrator)
                let (number, id) = ("4242424242424242", TransactionID(number: 1))
                let payments = store.urls.payments
                let method = Array(#"{"paymentMethod":"\#(number)"}"#.utf8)
                let reason = #""reason":"paid by 4242 4242 4242 4242""#
                let answers = [
                    try await client.raw(
                        .PUT,
                        payments + Routes.subscriptionMethod(id),
                        body: method
                    ),
                    try await client.raw(.DELETE, payments + "\(Routes.paymentMethods)/\(number)"),
                    try await client.raw(
                        .POST,
                        payments + Routes.restores,
                        body: Array(#"{"applicationUsername":"\#(number)"}"#.utf8),
                        headers: [
                            ("content-type", "application/json"), ("idempotency-key", "restore"),
                        ]
                    ),
                    try await admin.raw(.POST, payments + Routes.resumption(id), body: method),
                    try await admin.raw(
                        .POST,
                        payments + Routes.refund(id),
                        body: Array("{\(reason)}".utf8)
                    ),
                    try await admin.raw(.POST, payments + Routes.refund(id), key: number),
                    try await admin.raw(
                        .POST,
                        payments + Routes.approval(id),
                        body: Array("{\"decision\":\"approve\",\(reason)}".utf8)
                    ),
                    try await admin.raw(
                        .PUT,
                        payments + Routes.adminSubscription(id) + "/auto-renew",
                        body: Array("{\"isOn\":false,\(reason)}".utf8)
                    ),
                ]
                for (place, answer) in answers.enumerated() {
                    #expect(answer.status == 400, "\(place): \(answer.text)")
                    #expect(
                        answer.text.contains("card_number_refused"),
                        "\(place): \(answer.text)"
                    )
                }
                let opening = RedemptionTicketRequest(
                    storefront: SampleCatalog.usa,
                    paymentMethod: try await store.saveCard("pm_card_visa", at: stripe)
                )
                let page = try await client.raw(
                    .POST,
                    payments + Routes.redemptionTickets,
                    body: Array(try JSONEncoder().encode(opening))
                ).decode(RedemptionTicketResponse.self)
                let ticket = try #require(page.path.components(separatedBy: "ticket=").last)
                let typed = try await StoreHTTP.send(
                    .POST,
                    payments + Routes.redemptionPage,
                    headers: [("content-type", "application/x-www-form-urlencoded")],
                    body: Array("ticket=\(ticket)&code=\(number)".utf8)
                )
                #expect(typed.status == 422 && typed.text.contains("This is the number of a card"))
                #expect(!typed.text.contains(number))
                let log = store.process(.payments).log()
                #expect(!log.contains(number) && !log.contains("4242 4242 4242 4242"))
            }
        }

        @Test func anAccountThatAsksTooOftenIsRefused() async throws {
            try await withStripe { store, _ in
                let client = try store.client(account: "ada")
                let setup = store.urls.payments + Routes.paymentMethodSetups + "/unknown"
                for count in 1...31 {
                    let status = try await client.raw(.POST, setup).status
                    #expect(status == (count > 30 ? 429 : 404), "setup \(count)")
                }
                let page = store.urls.payments + Routes.action(of: TransactionID(number: 1))
                for count in 1...121 {
                    let status = try await client.raw(.GET, page).status
                    #expect(status == (count > 120 ? 429 : 404), "action \(count)")
                }
                #expect(try await store.client(account: "bob").raw(.POST, setup).status == 404)
            }
        }

        @Test func whatIsNoWebhookOfStripesIsRefused() async throws {
            try await withStripe { store, stripe in
                let body = Array(#"{"id":"evt_1","type":"payment_intent.succeeded"}"#.utf8)
                for header in ["", "t=1,v1=00", "nonsense"] {
                    let answer = try await StoreHTTP.send(
                        .POST,
                        store.urls.payments + Routes.stripeEvents,
                        headers: [("stripe-signature", header)],
                        body: body
                    )
                    #expect(answer.status == 400, "\(answer.text)")
                }
                let large = try await StoreHTTP.send(
                    .POST,
                    store.urls.payments + Routes.stripeEvents,
                    body: Array(repeating: 0x20, count: 300 * 1024)
                )
                #expect(large.status == 413)
                // No setting names another account.
                let other = try await StoreHTTP.send(
                    .POST,
                    store.urls.payments + Routes.stripeAccountEvents("games"),
                    headers: [("stripe-signature", "t=1,v1=00")],
                    body: body
                )
                #expect(other.status == 404 && other.text.contains("processor_not_used"))
            }
        }
    }
}

/// Runs a store that charges at a stand-in, which tells it of every change twice and out of order.
private func withStripe(
    _ body: @escaping @Sendable (StoreHarness, StoreStripe) async throws -> Void
) async throws {
    var options = StoreOptions()
    options.processor = .stripe
    options.endsProcessing = false
    options.settings[.payments] = [
        "STRIPE_TIMEOUT_MS": "3000", "PROCESSOR_LEASE_MS": "6000", "STRIPE_MOVEMENTS_MS": "500",
        "ACTION_EXPIRY_MS": "120000",
    ]
    try await withStore(options) { store in
        try await store.importSampleCatalog()
        try await body(store, try #require(store.stripe))
    }
}

extension PaymentRequest {
    /// Returns a payment by a saved method.
    fileprivate static func saved(
        _ product: ProductID = SampleCatalog.coins,
        by method: PaymentMethod
    ) -> PaymentRequest {
        var request = PaymentRequest.sample(product)
        request.paymentMethod = method
        return request
    }
}

extension StoreHarness {
    /// Compares all books with Stripe's list, once it has been read for a number of transactions.
    fileprivate func compareWithStripe(_ count: Int) async throws -> Reconciliation {
        try await eventually(every: .milliseconds(200), "all transactions on Stripe's list") {
            let books = try await counterfoil("reconcile", "--settled", "0", "--json")
                .json(Reconciliation.self)
            return books.compared == count ? books : nil
        }
    }

    /// Saves a card of Ada's as an app does.
    fileprivate func saveCard(_ card: String, at stripe: StoreStripe) async throws -> PaymentMethod
    {
        let saved = try await stripe.save(card, of: try client(account: "ada"))
        #expect(!process(.payments).log().contains("_secret_standin"))
        return saved
    }

    fileprivate func pay(
        for product: ProductID = SampleCatalog.coins,
        by method: PaymentMethod
    ) async throws -> TransactionID {
        try await client(account: "ada").addUntilAnswered(.saved(product, by: method)).value
            .transaction.id
    }

    @discardableResult
    fileprivate func wait(
        _ id: TransactionID,
        toBe state: TransactionState
    ) async throws -> Transaction {
        try await client(account: "ada").wait(for: id, toBe: state)
    }
}

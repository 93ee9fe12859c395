import EventTypes
import Foundation
import ServiceKit
import StoreAPI
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Signed offers that are refused, in the order of the checks (rules S49 to S51).
@Suite(.timeLimit(.minutes(10))) struct PromotionalOfferRefusalTests {
    private let signer = OfferSigner.shared

    /// Runs a test in a store whose club has an offer; alice has it.
    private func withSubscriber(_ body: @Sendable (Store) async throws -> Void) async throws {
        try await withStore { store in
            try await store.sell(
                club(promotional: [comeBack]),
                club("gold", promotional: [comeBack])
            )
            _ = try await store.buy(request("club", price: usd(299)), key: "first")
            try await body(store)
            #expect(try await store.count("offer_nonces") == 0)
            #expect(try await store.count("transactions") == 1)
        }
    }

    private func expect(
        _ refusal: PaymentRefusal,
        of request: PaymentRequest,
        by account: AuthenticatedAccount = alice,
        _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: refusal, sourceLocation: location) {
            try await store.add(request, key: UUID().uuidString, of: account)
        }
    }

    @Test func anOfferThatIsNotThereIsUnknown() async throws {
        try await withSubscriber { store in
            let other = try signer.discount("other")
            await expect(.offerUnknown("other"), of: redeeming(other), store)
            let token = try signer.token(["offerIdentifier": "other"])
            await expect(.offerUnknown("other"), of: redeeming(token: token), store)
            var idle = comeBack
            idle.isActive = false
            try await store.sell(club(version: 2, promotional: [idle]))
            let discount = try signer.discount()
            await expect(.offerUnknown("come_back"), of: redeeming(discount), store)
            var abroad = comeBack
            abroad.terms.prices = [:]
            try await store.sell(club(version: 3, promotional: [abroad]))
            await expect(.offerUnknown("come_back"), of: redeeming(discount), store)
        }
    }

    @Test func whatIsMissingIsNamed() async throws {
        try await withSubscriber { store in
            var discount = try signer.discount()
            discount.nonce = nil
            discount.signature = ""
            let refusal = PaymentRefusal.offerIncomplete(missing: ["nonce", "signature"])
            await expect(refusal, of: redeeming(discount), store)
            discount = try signer.discount()
            discount.timestamp = nil
            await expect(.offerIncomplete(missing: ["timestamp"]), of: redeeming(discount), store)
            discount = try signer.discount()
            discount.keyIdentifier = nil
            await expect(
                .offerIncomplete(missing: ["keyIdentifier"]),
                of: redeeming(discount),
                store
            )
        }
    }

    @Test func aSignatureIsForOnePaymentOnly() async throws {
        try await withSubscriber { store in
            func refused(_ fault: PaymentRefusal.OfferFault, _ request: PaymentRequest) async {
                await expect(.offerSignatureInvalid(fault), of: request, store)
            }
            await expect(
                .offerKeyUnknown("OTHER"),
                of: redeeming(try signer.discount(by: "OTHER")),
                store
            )
            await refused(.signature, redeeming(try signer.discount(of: "gold")))
            await refused(.signature, redeeming(try signer.discount(in: "com.example.other")))
            await refused(.signature, redeeming(try signer.discount(username: "ada")))
            await refused(
                .signature,
                redeeming(try signer.discount(), username: "ada")
            )
            var discount = try signer.discount()
            discount.timestamp = discount.timestamp.map { $0 + 1 }
            await refused(.signature, redeeming(discount))
            discount = try signer.discount()
            discount.nonce = UUID().uuidString
            await refused(.signature, redeeming(discount))
            discount.nonce = "once"
            await refused(.nonce, redeeming(discount))
            for text in ["no base64", "AAAA", String(discount.signature?.dropLast(4) ?? "")] {
                discount = try signer.discount()
                discount.signature = text
                await refused(.form, redeeming(discount))
            }
        }
    }

    @Test func aJWSIsForOnePaymentOnly() async throws {
        try await withSubscriber { store in
            func refused(_ fault: PaymentRefusal.OfferFault, _ token: String) async {
                await expect(.offerSignatureInvalid(fault), of: redeeming(token: token), store)
            }
            await refused(.token, "no.jws")
            await refused(.token, try signer.token(alg: "none"))
            await refused(.token, String(repeating: "a", count: 5000))
            await refused(.audience, try signer.token(["aud": "introductory-offer-eligibility"]))
            await refused(.bundle, try signer.token(["bid": "com.example.other"]))
            await refused(.product, try signer.token(["productId": "gold"]))
            await refused(.issuer, try signer.token(["iss": "another"]))
            await refused(.nonce, try signer.token(["nonce": "once"]))
            await refused(.customer, try signer.token(["transactionId": "one"]))
            await refused(.customer, try signer.token(["transactionId": "123456789"]))
            let token = try signer.token()
            let other = try signer.token()
            let parts =
                token.split(separator: ".").prefix(2) + other.split(separator: ".").suffix(1)
            await refused(.signature, parts.joined(separator: "."))
            await expect(
                .offerKeyUnknown("OTHER"),
                of: redeeming(token: try signer.token(by: "OTHER")),
                store
            )
        }
    }

    /// Another key signs the right values, and names the key that the app has.
    @Test func aGuessedSignatureIsRefused() async throws {
        try await withSubscriber { store in
            let stranger = OfferSigner()
            let refusal = PaymentRefusal.offerSignatureInvalid(.signature)
            await expect(refusal, of: redeeming(try stranger.discount()), store)
            await expect(refusal, of: redeeming(token: try stranger.token()), store)
        }
    }

    /// Another account's transaction does not vouch for this one.
    @Test func aJWSForAnotherCustomerIsRefused() async throws {
        try await withStore { store in
            try await store.sell(club(promotional: [comeBack]))
            let bobs = try await store.buy(request("club", price: usd(299)), key: "1", of: bob)
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            let token = try signer.token(["transactionId": bobs.id.rawValue])
            await expect(.offerSignatureInvalid(.customer), of: redeeming(token: token), store)
        }
    }

    @Test(arguments: [-24 * 3600 - 1, 5 * 60 + 1])
    func aSignatureIsGoodForADay(seconds: Int) async throws {
        try await withSubscriber { store in
            let time = startTime.onMachines.advanced(by: .seconds(seconds))
            await expect(.offerExpired, of: redeeming(try signer.discount(at: time)), store)
            await expect(.offerExpired, of: redeeming(token: try signer.token(at: time)), store)
        }
    }

    @Test(arguments: [-24 * 3600, 5 * 60])
    func aSignatureIsGoodAtTheEdges(seconds: Int) async throws {
        try await withStore { store in
            try await store.sell(club(promotional: [comeBack]))
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            let time = startTime.onMachines.advanced(by: .seconds(seconds))
            try await store.add(redeeming(try signer.discount(at: time)), key: "2")
            #expect(try await store.subscription().pendingOffer?.id == comeBack.id)
        }
    }

    @Test func anOfferIsNotDearerThanTheProduct() async throws {
        try await withSubscriber { store in
            try await store.sell(club(price: usd(98), version: 2, promotional: [comeBack]))
            let request = redeeming(try signer.discount(), price: usd(98))
            await expect(.offerPriceInvalid, of: request, store)
        }
    }

    @Test func whoNeverHadASubscriptionGetsNoOffer() async throws {
        try await withSubscriber { store in
            let request = redeeming(try signer.discount())
            await expect(.offerNotAvailable, of: request, by: bob, store)
            // Who has to ask is not asked about what costs nothing.
            let week = PromotionalOffer(id: OfferID(unchecked: "a_week"), terms: freeWeek)
            try await store.sell(club(version: 2, promotional: [week]))
            let free = redeeming(try signer.discount("a_week"), method: .needsApproval)
            await expect(.offerNotAvailable, of: free, store)
        }
    }

    @Test func offersThatContradictAreRefused() async throws {
        try await withSubscriber { store in
            let both = redeeming(try signer.discount(), token: try signer.token())
            await expect(.offersContradict, of: both, store)
            let coins = redeeming(try signer.discount(of: "coins"), "coins", price: usd(999))
            await expect(.offersContradict, of: coins, store)
            // The ordinary price has changed since the offer was signed.
            let stale = redeeming(try signer.discount(), price: usd(199))
            await expect(.stalePrice(current: usd(299)), of: stale, store)
        }
    }

    /// Redeems an offer for the club while a charge for the next period is under way.
    @Test(arguments: [("club", true), ("silver", false)])
    func aChargeForAnotherProductRefusesTheOffer(charged: String, isRedeemed: Bool) throws {
        let usa = Storefront(unchecked: "USA")
        let product = club()
        let terms = try #require(product.subscription)
        var subscription = Subscription(
            accountID: alice.accountID,
            bundleID: alice.bundleID,
            storefront: usa,
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: 1),
                reason: .purchase,
                product: SubscriptionProduct(id: product.id, terms: terms, price: usd(299)),
                price: usd(299),
                anchor: startTime,
                number: 1,
                start: startTime,
                end: startTime.advanced(by: .seconds(31 * 86_400))
            )
        )
        subscription.charge = RenewalCharge(
            key: RenewalChargeKey(
                subscriptionID: subscription.id,
                period: 2,
                epoch: 1,
                attempt: 1
            ),
            product: SubscriptionProduct(
                id: ProductID(unchecked: charged),
                terms: terms,
                price: usd(299)
            ),
            storefront: usa,
            startedAt: startTime
        )
        let offer = PeriodOffer(
            type: .promotional,
            id: comeBack.id,
            mode: .freeTrial,
            period: SubscriptionPeriod(1, .week),
            price: usd(0)
        )
        let policy = SubscriptionPolicy(calendar: PeriodCalendar(timeZone: .gmt))
        let copy = SubscriptionRules.redemption(
            of: offer,
            for: product,
            meeting: subscription,
            at: startTime,
            by: DueActionRules(policy: policy)
        )
        #expect(copy?.redeems == (isRedeemed ? offer : nil))
    }

    @Test(arguments: [
        PaymentRefusal.offerUnknown("a"), .offerIncomplete(missing: ["nonce"]),
        .offerKeyUnknown("a"), .offerSignatureInvalid(.signature), .offerExpired,
        .offerNonceUsed, .offerPriceInvalid, .offersContradict, .offerNotAvailable,
    ])
    func eachRefusalHasItsOwnCode(refusal: PaymentRefusal) {
        let codes: [String: PaymentRefusal] = [
            "offer_unknown": .offerUnknown("a"),
            "offer_incomplete": .offerIncomplete(missing: ["nonce"]),
            "offer_key_unknown": .offerKeyUnknown("a"),
            "offer_signature_invalid": .offerSignatureInvalid(.signature),
            "offer_expired": .offerExpired, "offer_nonce_used": .offerNonceUsed,
            "offer_price_invalid": .offerPriceInvalid,
            "offers_contradict": .offersContradict, "offer_not_available": .offerNotAvailable,
        ]
        #expect(codes[refusal.problem.code] == refusal)
    }
}

import EventTypes
import Foundation
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Payments for which the merchant's server decides about the introductory offer (rule S48).
@Suite(.timeLimit(.minutes(10))) struct IntroductoryEligibilityTests {
    private let signer = OfferSigner.shared

    /// The time after the club has lapsed.
    private var later: MachineTime { startTime.onMachines.advanced(by: .seconds(31 * 86_400)) }

    /// A payment with a decision of the merchant's server.
    private func decided(
        _ token: String,
        _ product: String = "club",
        price: Money = usd(299),
        method: SandboxPaymentMethod = .success
    ) -> PaymentRequest {
        var request = request(product, price: price, method: method)
        request.introductoryOfferEligibility = token
        return request
    }

    /// Runs a test in a store in which alice has had the offer of the club, and left.
    private func withFormerBuyer(
        _ body: @Sendable (Store, _ first: TransactionID) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths), club("gold", offer: threeMonths))
            let first = try await store.buy(
                request("club", price: usd(299)),
                key: "first"
            )
            #expect(first.price == usd(99))
            try await store.lapse()
            try await body(store, first.id)
        }
    }

    private func expect(
        _ refusal: PaymentRefusal,
        of request: PaymentRequest,
        _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: refusal, sourceLocation: location) {
            try await store.add(request, key: UUID().uuidString)
        }
    }

    // MARK: - Allowed

    @Test func whoHasHadTheOfferGetsItOnceMore() async throws {
        try await withFormerBuyer { store, first in
            let token = try signer.eligibility(true, ["transactionId": first.rawValue], at: later)
            let again = try await store.buy(decided(token), key: "1")
            #expect(again.state == .purchased && again.price == usd(99))
            let offer = try #require(again.subscription?.offer)
            #expect(offer.type == .introductory && offer.introductory == .again)
            #expect(try await store.introductoryID() == first)
            #expect(try await store.count("offer_nonces") == 1)
            try await store.advance(days: 100)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(99), usd(99), usd(99), usd(99), usd(299)])
            try await store.expectNothingLost()
        }
    }

    /// The signature gives one offer, and changes nothing for later payments.
    @Test func theNextPaymentCostsTheOrdinaryPrice() async throws {
        try await withFormerBuyer { store, _ in
            let token = try signer.eligibility(at: later)
            _ = try await store.buy(decided(token), key: "1")
            await expect(.offerNonceUsed, of: decided(token), store)
            try await store.lapse()
            let ordinary = request("club", price: usd(299))
            #expect(try await store.buy(ordinary, key: "2").price == usd(299))
            try await store.expectNothingLost()
        }
    }

    /// It is then the offer that every account has once.
    @Test func whoMayHaveTheOfferGetsTheirOwn() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let first = try await store.buy(decided(try signer.eligibility()), key: "1")
            #expect(first.price == usd(99) && first.subscription?.offer?.introductory == nil)
            #expect(try await store.introductoryID() == first.id)
            try await store.lapse()
            let ordinary = request("club", price: usd(299))
            #expect(try await store.buy(ordinary, key: "2").price == usd(299))
            try await store.expectNothingLost()
        }
    }

    @Test func aFailedPaymentLeavesTheFirstOfferNoted() async throws {
        try await withFormerBuyer { store, first in
            let token = try signer.eligibility(at: later)
            let failed = try await store.buy(decided(token, method: .interrupted), key: "1")
            #expect(failed.state == .failed && failed.price == usd(99))
            #expect(try await store.introductoryID() == first)
            // Its signature was for this payment only.
            let method = SandboxPaymentMethod.success.method
            let reply = try await store.resumptions.resume(failed.id, by: method)
            guard case .refused(let refusal) = reply else {
                Issue.record("The payment was resumed: \(reply)")
                return
            }
            #expect(refusal == .offerNotAvailable)
            await expect(.offerNonceUsed, of: decided(token), store)
            let other = try signer.eligibility(at: later)
            #expect(try await store.buy(decided(other), key: "2").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    /// Two offers would be given if the payment that waits for approval failed.
    @Test func anOfferThatIsNotPaidYetIsNotGivenAgain() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let asked = try await store.buy(
                request("club", price: usd(299), method: .needsApproval),
                key: "1"
            )
            #expect(asked.state == .deferred && asked.price == usd(99))
            let token = try signer.eligibility()
            await expect(.offerNotAvailable, of: decided(token), store)
            #expect(try await store.count("offer_nonces") == 0)
            _ = try await store.approvals.decide(.decline, on: asked.id)
            try await store.settle()
            // The account has its own offer again.
            let bought = try await store.buy(decided(token), key: "2")
            #expect(bought.price == usd(99) && bought.subscription?.offer?.introductory == nil)
            #expect(try await store.introductoryID() == bought.id)
            try await store.expectNothingLost()
        }
    }

    @Test func whoseSubscriptionRunsIsRefused() async throws {
        try await withStore { store in
            try await store.sell(club("silver", level: 2), club("gold", offer: threeMonths))
            let silver = request("silver", price: usd(299))
            _ = try await store.buy(silver, key: "1")
            let token = try signer.eligibility(true, ["productId": "gold"])
            await expect(.offerNotAvailable, of: decided(token, "gold"), store)
            #expect(try await store.count("transactions") == 1)
        }
    }

    @Test func aProductWithoutTheOfferIsNotSoldForMore() async throws {
        try await withStore { store in
            try await store.sell(club())
            await expect(.offerNotAvailable, of: decided(try signer.eligibility()), store)
            // Nobody is asked about what costs nothing.
            try await store.sell(club(version: 2, offer: freeWeek))
            let asking = decided(try signer.eligibility(), method: .needsApproval)
            await expect(.offerNotAvailable, of: asking, store)
        }
    }

    // MARK: - Withheld

    @Test func aWithheldOfferIsKeptForLater() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            var shown = decided(try signer.eligibility(false))
            shown.offer = ShownOffer(type: .introductory)
            await expect(.offerNotAvailable, of: shown, store)
            let token = try signer.eligibility(false)
            let bought = try await store.buy(decided(token), key: "1")
            #expect(bought.price == usd(299) && bought.subscription?.offer == nil)
            #expect(try await store.introductoryID() == nil)
            #expect(try await store.count("offer_nonces") == 1)
            await expect(.offerNonceUsed, of: decided(token), store)
            try await store.lapse()
            let ordinary = request("club", price: usd(299))
            #expect(try await store.buy(ordinary, key: "2").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    // MARK: - Signatures

    @Test(arguments: [true, false])
    func aDecisionIsForOnePaymentOnly(isAllowed: Bool) async throws {
        try await withFormerBuyer { store, _ in
            func token(_ changes: [String: String] = [:], alg: String = "ES256") throws -> String {
                try signer.eligibility(isAllowed, changes, at: later, alg: alg)
            }
            func refused(_ fault: PaymentRefusal.OfferFault, _ token: String) async {
                await expect(.offerSignatureInvalid(fault), of: decided(token), store)
            }
            await refused(.token, "no.jws")
            await refused(.token, try token(alg: "none"))
            await refused(.token, try token(["allowIntroductoryOffer": "true"]))
            await refused(.audience, try signer.token(at: later))
            await refused(
                .token,
                try signer.token(["aud": "introductory-offer-eligibility"], at: later)
            )
            await refused(.bundle, try token(["bid": "com.example.other"]))
            await refused(.product, try token(["productId": "gold"]))
            await refused(.issuer, try token(["iss": "another"]))
            await refused(.nonce, try token(["nonce": "once"]))
            await refused(.customer, try token(["transactionId": "one"]))
            await refused(.customer, try token(["transactionId": "123456789"]))
            let parts =
                try token().split(separator: ".").prefix(2)
                + token().split(separator: ".").suffix(1)
            await refused(.signature, parts.joined(separator: "."))
            let foreign = try signer.eligibility(isAllowed, at: later, by: "OTHER")
            await expect(.offerKeyUnknown("OTHER"), of: decided(foreign), store)
            for seconds in [-24 * 3600 - 1, 5 * 60 + 1] {
                let time = later.advanced(by: .seconds(seconds))
                let old = try signer.eligibility(isAllowed, at: time)
                await expect(.offerExpired, of: decided(old), store)
            }
            #expect(try await store.count("offer_nonces") == 0)
            #expect(try await store.count("transactions") == 1)
        }
    }

    @Test func aDecisionAndAnOfferContradictEachOther() async throws {
        try await withFormerBuyer { store, _ in
            var both = decided(try signer.eligibility(at: later))
            both.promotionalOffer = try signer.token(at: later)
            await expect(.offersContradict, of: both, store)
            both.promotionalOffer = nil
            both.discount = try signer.discount(at: later)
            await expect(.offersContradict, of: both, store)
            let coins = try signer.eligibility(true, ["productId": "coins"], at: later)
            await expect(.offersContradict, of: decided(coins, "coins", price: usd(999)), store)
            // The JWS of the introductory offer redeems no promotional one.
            let token = try signer.eligibility(at: later)
            let swapped = redeeming(token: token)
            await expect(.offerSignatureInvalid(.audience), of: swapped, store)
        }
    }

    /// Many processes get the same signature at once.
    @Test func ofManyPaymentsAtOnceOneUsesTheDecision() async throws {
        try await withStore(poolSize: 8) { store in
            try await store.sell(club(offer: threeMonths))
            let payment = decided(try signer.eligibility())
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...12 {
                    group.addTask {
                        do {
                            try await store.add(payment, key: "\(number)")
                            return true
                        } catch PaymentRefusal.offerNonceUsed {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 1)
            #expect(try await store.count("offer_nonces") == 1)
            try await store.settle()
            try await store.expectNothingLost()
        }
    }
}

import EventTypes
import Foundation
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Purchases and renewals with a promotional offer (rules S49 to S53).
@Suite(.timeLimit(.minutes(10))) struct PromotionalOfferTests {
    private let signer = OfferSigner.shared

    /// Runs a test in a store whose club has an offer; alice's subscription has lapsed.
    private func withFormerSubscriber(
        _ body: @Sendable (Store) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(
                club(promotional: [comeBack]),
                club("gold", level: 1, promotional: [comeBack])
            )
            _ = try await store.buy(request("club", price: usd(299)), key: "first")
            try await store.lapse()
            try await body(store)
        }
    }

    private var now: MachineTime { startTime.onMachines.advanced(by: .seconds(31 * 86_400)) }

    private func expectRefusal(
        _ refusal: PaymentRefusal,
        of request: PaymentRequest,
        _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        await #expect(throws: refusal, sourceLocation: location) {
            try await store.add(request, key: UUID().uuidString)
        }
        #expect(try await store.count("offer_nonces") == 0, sourceLocation: location)
    }

    // MARK: - Purchases

    @Test func whoComesBackPaysTheOffersPrice() async throws {
        try await withFormerSubscriber { store in
            let discount = try signer.discount(at: now)
            let bought = try await store.buy(redeeming(discount), key: "1")
            #expect(bought.state == .purchased && bought.price == usd(99))
            let offer = try #require(bought.subscription?.offer)
            #expect(offer.type == .promotional && offer.id == comeBack.id && offer.number == 1)
            #expect(bought.subscription?.renewalPrice == usd(299))
            #expect(try await store.count("offer_nonces") == 1)
            try await store.advance(days: 100)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(99), usd(99), usd(99), usd(299)])
            #expect(try await store.introductoryID() == nil)
            try await store.expectNothingLost()
        }
    }

    @Test func aJWSIsTheSameOffer() async throws {
        try await withFormerSubscriber { store in
            let former = try await store.subscription().id
            let token = try signer.token(["transactionId": former.rawValue], at: now)
            let bought = try await store.buy(redeeming(token: token), key: "1")
            #expect(bought.state == .purchased && bought.price == usd(99))
            #expect(bought.subscription?.offer?.id == comeBack.id)
            #expect(try await store.count("offer_nonces") == 1)
            try await store.expectNothingLost()
        }
    }

    /// Such a claim is not plain JSON, so Foundation's decoder reads them all.
    @Test func aJWSMayHaveClaimsInAnyLetters() async throws {
        try await withFormerSubscriber { store in
            let token = try signer.token(["note": "für Ada"], at: now)
            #expect(try await store.buy(redeeming(token: token), key: "1").price == usd(99))
        }
    }

    @Test func anUpgradeMayHaveAnOffer() async throws {
        try await withStore { store in
            try await store.sell(
                club("silver", level: 2, promotional: [comeBack]),
                club("gold", promotional: [comeBack])
            )
            _ = try await store.buy(request("silver", price: usd(299)), key: "1")
            let discount = try signer.discount(of: "gold")
            let gold = try await store.buy(redeeming(discount, "gold"), key: "2")
            #expect(gold.state == .purchased && gold.price == usd(99))
            #expect(gold.subscription?.replaces == ProductID(unchecked: "silver"))
            try await store.expectNothingLost()
            // A lower product is not bought while one runs, with or without an offer.
            let lower = redeeming(try signer.discount(of: "silver"), "silver")
            await #expect(
                throws: PaymentRefusal.alreadySubscribed(to: ProductID(unchecked: "gold"))
            ) {
                try await store.add(lower, key: "3")
            }
        }
    }

    @Test func theApplicationUsernameIsSignedInLowerCase() async throws {
        try await withFormerSubscriber { store in
            let discount = try signer.discount(username: "ada@home", at: now)
            let request = redeeming(discount, username: "Ada@Home")
            #expect(try await store.buy(request, key: "1").price == usd(99))
        }
    }

    @Test func aBuyerWhoWasShownTheOfferGetsExactlyThat() async throws {
        try await withFormerSubscriber { store in
            var request = redeeming(try signer.discount(at: now))
            request.offer = ShownOffer(type: .introductory)
            try await expectRefusal(.offerNotAvailable, of: request, store)
            request.offer = ShownOffer(type: .promotional, id: OfferID(unchecked: "other"))
            try await expectRefusal(.offerNotAvailable, of: request, store)
            request.offer = ShownOffer(type: .promotional, id: comeBack.id)
            #expect(try await store.buy(request, key: "1").price == usd(99))
        }
    }

    // MARK: - Once

    @Test func aNonceIsUsedOnce() async throws {
        try await withFormerSubscriber { store in
            let request = redeeming(try signer.discount(at: now))
            let first = try await store.buy(request, key: "1")
            #expect(try await store.add(request, key: "1").id == first.id)
            await #expect(throws: PaymentRefusal.offerNonceUsed) {
                try await store.add(request, key: "2")
            }
            #expect(try await store.count("offer_nonces") == 1)
        }
    }

    /// A nonce is kept for as long as its signature can be used, and not longer.
    @Test func aNonceIsForgottenOnceItsSignatureIsTooOld() async throws {
        try await withFormerSubscriber { store in
            let request = redeeming(try signer.discount(at: now))
            try await store.buy(request, key: "1")
            store.clock.advance(by: SignedOffer.lifetime)
            try await store.buy(
                redeeming(try signer.discount(at: store.clock.machineNow())),
                key: "2",
                of: alice
            )
            #expect(try await store.count("offer_nonces") == 2)
            store.clock.advance(by: .seconds(3601))
            await #expect(throws: PaymentRefusal.offerExpired) {
                try await store.add(request, key: "3")
            }
            try await store.buy(
                redeeming(try signer.discount(at: store.clock.machineNow())),
                key: "4"
            )
            #expect(try await store.count("offer_nonces") == 2)
        }
    }

    /// A payment that fails has used its signature.
    @Test func aPaymentThatFailsNeedsANewSignature() async throws {
        try await withFormerSubscriber { store in
            let discount = try signer.discount(at: now)
            let failed = try await store.buy(redeeming(discount, method: .decline), key: "1")
            #expect(failed.state == .failed)
            await #expect(throws: PaymentRefusal.offerNonceUsed) {
                try await store.add(redeeming(discount), key: "2")
            }
            let again = try signer.discount(at: now)
            #expect(try await store.buy(redeeming(again), key: "3").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    @Test func ofTwoPaymentsInABatchOneUsesTheNonce() async throws {
        try await withFormerSubscriber { store in
            let nonce = UUID()
            let requests = try ["club", "gold"].map { product in
                redeeming(try signer.discount(of: product, nonce: nonce, at: now), product)
            }
            let replies = try await store.payments.accept(
                zip(requests, ["1", "2"]).map {
                    PaymentSubmission(account: alice, idempotencyKey: $1, request: $0)
                }
            )
            #expect(try store.transaction(in: try #require(replies.first)).price == usd(99))
            #expect(throws: PaymentRefusal.offerNonceUsed) {
                try store.transaction(in: try #require(replies.last))
            }
        }
    }

    /// Two accounts and many processes use one signature.
    @Test func ofManyPaymentsAtOnceOneUsesTheNonce() async throws {
        try await withStore(poolSize: 8) { store in
            try await store.sell(club(promotional: [comeBack]))
            for account in [alice, bob] {
                _ = try await store.buy(
                    request("club", price: usd(299)),
                    key: "first",
                    of: account
                )
            }
            let request = redeeming(try signer.discount())
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...12 {
                    group.addTask {
                        do {
                            let account = number.isMultiple(of: 2) ? alice : bob
                            try await store.add(request, key: "\(number)", of: account)
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
        }
    }

    // MARK: - The running product

    @Test func anOfferForTheRunningProductBeginsWithTheNextRenewal() async throws {
        try await withStore { store in
            try await store.sell(club(promotional: [comeBack]))
            let first = try await store.buy(request("club", price: usd(299)), key: "1")
            let request = redeeming(try signer.discount())
            let answered = try await store.add(request, key: "2")
            let copy = try await store.load(answered.id)
            #expect(copy.state == .purchased && copy.price == usd(0))
            #expect(copy.reason == .ownedAgain && copy.originalID == first.id)
            #expect(copy.subscription?.paidBy == first.id)
            #expect(copy.subscription?.end == first.subscription?.end)
            #expect(copy.subscription?.redeems?.id == comeBack.id)
            #expect(try await store.subscription().pendingOffer?.id == comeBack.id)
            #expect(try await store.subscription().nextPrice == usd(99))
            #expect(try await store.count("processor_attempts") == 1)
            // A repetition gets the same answer, and keeps no second offer.
            #expect(try await store.add(request, key: "2") == answered)
            await #expect(throws: PaymentRefusal.offerNonceUsed) {
                try await store.add(request, key: "3")
            }
            #expect(try await store.subscriptionChanges().map(\.cause).last == .offerRedeemed)
            try await store.advance(days: 130)
            let renewals = try await store.transactions().filter { $0.reason == .renewal }
            #expect(renewals.map(\.price) == [usd(99), usd(99), usd(99), usd(299)])
            #expect(renewals.map { $0.subscription?.offer?.number } == [1, 2, 3, nil])
            #expect(try await store.subscription().pendingOffer == nil)
            try await store.expectNothingLost()
        }
    }

    @Test func whoHadCancelledRenewsAgain() async throws {
        try await withStore { store in
            try await store.sell(club(promotional: [comeBack]))
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            let id = try await store.subscription().id
            _ = try await store.subscriptions.decide(.autoRenew(false), on: id, trace: .begin())
            try await store.add(redeeming(try signer.discount()), key: "2")
            #expect(try await store.subscription().isAutoRenewOn)
            // Who cancels afterwards loses the offer (trap 24).
            _ = try await store.subscriptions.decide(.autoRenew(false), on: id, trace: .begin())
            _ = try await store.subscriptions.decide(.autoRenew(true), on: id, trace: .begin())
            #expect(try await store.subscription().pendingOffer == nil)
            #expect(try await store.subscription().nextPrice == usd(299))
            try await store.expectNothingLost()
        }
    }

    @Test func anotherOfferReplacesThePendingOne() async throws {
        try await withStore { store in
            let week = PromotionalOffer(id: OfferID(unchecked: "a_week"), terms: freeWeek)
            try await store.sell(club(promotional: [comeBack, week]))
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.add(redeeming(try signer.discount()), key: "2")
            try await store.add(redeeming(try signer.discount("a_week")), key: "3")
            #expect(try await store.subscription().pendingOffer?.id == week.id)
            try await store.advance(days: 31)
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.price == usd(0) && renewal.subscription?.offer?.id == week.id)
            try await store.expectNothingLost()
        }
    }

    /// The ids of the transactions that a restore would give back.
    private func restorable(_ store: Store) async throws -> [TransactionID] {
        let records = try await store.client.withConnection {
            try TransactionStore.restorable(
                (alice.accountID, alice.bundleID),
                applicationUsername: nil,
                productIDs: nil,
                limit: 10,
                on: $0
            )
        }
        return records.map(\.transaction.id)
    }

    /// The copy by which an offer was redeemed is not revoked with the period that it copies.
    @Test func aRestoreGivesThePeriodAndNotItsCopy() async throws {
        try await withStore { store in
            try await store.sell(club(promotional: [comeBack]))
            let first = try await store.buy(request("club", price: usd(299)), key: "1")
            let copy = try await store.add(redeeming(try signer.discount()), key: "2")
            for id in [first.id, copy.id] { try await store.finish(id) }
            #expect(try await restorable(store) == [first.id])
            _ = try await store.refunds.refund(first.id, trace: .begin())
            #expect(try await store.load(first.id).revokedAt != nil)
            #expect(try await restorable(store).isEmpty)
        }
    }
}

import EventTypes
import Foundation
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Purchases with a win-back offer (rules S59 to S61).
@Suite(.timeLimit(.minutes(10))) struct WinBackOfferTests {
    /// Runs a test in a store whose club has a win-back offer; alice's subscription has ended.
    private func withFormerSubscriber(
        _ offer: WinBackOffer = winBack(),
        _ body: @Sendable (Store) async throws -> Void
    ) async throws {
        try await withStore(poolSize: 4) { store in
            try await store.sell(
                club(winBack: [offer]),
                club("gold", level: 1, winBack: [offer])
            )
            _ = try await store.buy(request("club", price: usd(299)), key: "first")
            try await store.lapse()
            try await body(store)
        }
    }

    private func comingBack(_ id: String = "club", with offer: String = "back") -> PaymentRequest {
        var request = request(id, price: usd(299))
        request.offer = ShownOffer(type: .winBack, id: OfferID(unchecked: offer))
        return request
    }

    private func expectRefusal(
        of request: PaymentRequest,
        _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        await #expect(throws: PaymentRefusal.offerNotAvailable, sourceLocation: location) {
            try await store.add(request, key: UUID().uuidString)
        }
    }

    @Test func whoComesBackPaysTheOffersPrice() async throws {
        try await withFormerSubscriber { store in
            let bought = try await store.buy(comingBack(), key: "1")
            #expect(bought.state == .purchased && bought.price == usd(99))
            let offer = try #require(bought.subscription?.offer)
            #expect(offer.type == .winBack && offer.id?.rawValue == "back" && offer.number == 1)
            #expect(try await store.subscriptionChanges().last?.cause == .resubscribed)
            #expect(try await store.subscription().wonBackAt == bought.purchasedAt)
            try await store.advance(days: 100)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(99), usd(99), usd(99), usd(299)])
            // The introductory offer of the group is still to be had.
            #expect(try await store.introductoryID() == nil)
            try await store.expectNothingLost()
        }
    }

    @Test func whoIsNoFormerSubscriberGetsNone() async throws {
        try await withStore { store in
            try await store.sell(club(winBack: [winBack()]))
            try await expectRefusal(of: comingBack(), store)
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            try await expectRefusal(of: comingBack(), store)
            try await store.lapse()
            try await expectRefusal(of: comingBack(with: "other"), store)
            // Nobody gets it who does not ask for it.
            let plain = try await store.buy(request("club", price: usd(299)), key: "2")
            #expect(plain.price == usd(299) && plain.subscription?.offer == nil)
        }
    }

    @Test func theConditionsAreCheckedAtThePurchase() async throws {
        try await withFormerSubscriber(winBack { $0.paidMonths = 2 }) { store in
            try await expectRefusal(of: comingBack(), store)
        }
        try await withFormerSubscriber(winBack { $0.monthsSinceEnd = 1 }) { store in
            try await expectRefusal(of: comingBack(), store)
            store.clock.advance(by: .seconds(31 * 86_400))
            #expect(try await store.buy(comingBack(), key: "1").price == usd(99))
        }
    }

    /// An end that was not carried out yet has come all the same.
    @Test func anEndThatIsDueCounts() async throws {
        try await withStore { store in
            try await store.sell(club(winBack: [winBack()]))
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            let id = try await store.subscription().id
            _ = try await store.subscriptions.decide(.autoRenew(false), on: id, trace: .begin())
            store.clock.advance(by: .seconds(40 * 86_400))
            #expect(try await store.subscription().state == .active)
            #expect(try await store.buy(comingBack(), key: "2").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    @Test func anotherProductOfTheGroupMayHaveItToo() async throws {
        try await withFormerSubscriber { store in
            let gold = try await store.buy(comingBack("gold"), key: "1")
            #expect(gold.state == .purchased && gold.price == usd(99))
            try await store.expectNothingLost()
        }
    }

    // MARK: - Once

    /// Two devices at once: one comes back, and the other gets its money again.
    @Test func ofTwoAtOnceOneComesBack() async throws {
        try await withFormerSubscriber(winBack { $0.waitMonths = 2 }) { store in
            let ids = try await withThrowingTaskGroup(of: TransactionID.self) { group in
                for key in ["1", "2"] {
                    group.addTask { try await store.add(comingBack(), key: key).id }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await store.settle()
            var states: [TransactionState] = []
            for id in ids { states.append(try await store.load(id).state) }
            #expect(Set(states) == [.purchased, .failed])
            try await store.expectNothingLost()
            // The next one waits.
            try await store.lapse(days: 31)
            try await expectRefusal(of: comingBack(), store)
            store.clock.advance(by: .seconds(31 * 86_400))
            #expect(try await store.buy(comingBack(), key: "3").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    @Test func aFreeOfferIsBegunOnce() async throws {
        try await withFormerSubscriber(winBack(freeWeek)) { store in
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for key in 1...4 {
                    group.addTask {
                        // Those that come second are refused.
                        (try? await store.add(comingBack(), key: "\(key)")) != nil
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count(where: \.self) == 1)
            #expect(try await store.transactions().count == 2)
            try await store.expectNothingLost()
        }
    }

    @Test func aFailedChargeUsesNothingUp() async throws {
        try await withFormerSubscriber(winBack { $0.waitMonths = 24 }) { store in
            var declined = comingBack()
            declined.paymentMethod = SandboxPaymentMethod.decline.method
            #expect(try await store.buy(declined, key: "1").state == .failed)
            #expect(try await store.subscription().wonBackAt == nil)
            #expect(try await store.buy(comingBack(), key: "2").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    /// While the approval was awaited, the account has come back on another device, and has left again.
    @Test func anApprovalOfAnOfferThatWasOvertakenChargesNobody() async throws {
        try await withFormerSubscriber(winBack { $0.waitMonths = 24 }) { store in
            var asking = comingBack()
            asking.paymentMethod = SandboxPaymentMethod.needsApproval.method
            let asked = try await store.buy(asking, key: "1")
            #expect(asked.state == .deferred)
            let other = try await store.buy(comingBack(), key: "2")
            #expect(other.price == usd(99))
            try await store.lapse()
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            let late = try await store.load(asked.id)
            #expect(late.state == .failed && late.failureReason == .subscriptionChanged)
            #expect(try await store.count("sandbox_processor.charges") == 2)
            #expect(try await store.subscription().wonBackAt == other.purchasedAt)
            try await store.expectNothingLost()
        }
    }

    @Test func aBuyerWhoWasShownOtherTermsIsToldTheNewOnes() async throws {
        try await withFormerSubscriber { store in
            var request = comingBack()
            let listing = try #require(
                OfferListing(of: threeMonths, in: Storefront(unchecked: "USA"))
            )
            request.offer?.terms = listing
            request.offer?.terms?.price = usd(49)
            await #expect(throws: PaymentRefusal.staleOffer(current: listing)) {
                try await store.add(request, key: "1")
            }
            request.offer?.terms = listing
            #expect(try await store.buy(request, key: "2").price == usd(99))
        }
    }
}

/// A win-back offer of three months for 0.99 USD each.
private func winBack(
    _ terms: OfferTerms = threeMonths,
    _ change: (inout WinBackOffer) -> Void = { _ in }
) -> WinBackOffer {
    var offer = WinBackOffer(id: OfferID(unchecked: "back"), terms: terms)
    change(&offer)
    return offer
}

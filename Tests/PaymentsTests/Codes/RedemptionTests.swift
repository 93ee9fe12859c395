import EventTypes
import Foundation
import StoreAPI
import StoreTracing
import Testing

@testable import Payments

/// Redemptions of offer codes (rules S54 to S58).
@Suite(.timeLimit(.minutes(10))) struct RedemptionTests {
    @Test func aNewCustomerPaysTheOffersPrice() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            let terms = try await desk.terms(of: code)
            #expect(terms.grant.first?.price == usd(99) && terms.ordinary == usd(299))
            let bought = try await desk.buy(code)
            #expect(bought.state == .purchased && bought.price == usd(99))
            #expect(bought.subscription?.offer?.type == .code)
            #expect(bought.subscription?.offer?.id == OfferID(unchecked: "spring"))
            try await store.advance(days: 100)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(99), usd(99), usd(99), usd(299)])
            try await store.expectNothingLost()
        }
    }

    @Test func aCodeIsTypedInAnyForm() async throws {
        try await withCodes { _, desk in
            let code = try #require(try await desk.codes().first)
            let spaced = code.lowercased().map { "\($0)- " }.joined()
            #expect(try await desk.terms(of: spaced).grant.first?.price == usd(99))
            #expect(code.count == NewCodes.length)
        }
    }

    @Test func aFreeOfferIsPurchasedAtOnce() async throws {
        try await withCodes(club(code: spring(freeWeek))) { store, desk in
            let code = try #require(try await desk.codes().first)
            #expect(try await desk.buy(code).state == .purchased)
            #expect(try await store.subscription().nextPrice == usd(299))
        }
    }

    @Test func anOfferForTheRunningProductBeginsWithItsNextRenewal() async throws {
        try await withCodes { store, desk in
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            let code = try #require(try await desk.codes().first)
            #expect(try await desk.terms(of: code).grant.beginsLater)
            let copy = try await desk.buy(code)
            #expect(copy.state == .purchased && copy.price == usd(0))
            #expect(copy.subscription?.redeems?.type == .code)
            #expect(try await store.subscription().nextPrice == usd(99))
            #expect(try await store.subscriptionChanges().last?.cause == .offerRedeemed)
            try await store.advance(days: 31)
            #expect(try await store.transactions().last?.price == usd(99))
            #expect(try await store.subscription().pendingOffer == nil)
            try await store.expectNothingLost()
        }
    }

    @Test func aCodeUpgradesToAHigherProduct() async throws {
        try await withCodes { store, desk in
            try await store.sell(club("silver", level: 2))
            _ = try await store.buy(request("silver", price: usd(299)), key: "1")
            let code = try #require(try await desk.codes().first)
            let gold = try await desk.buy(code)
            #expect(gold.price == usd(99))
            #expect(gold.subscription?.replaces == ProductID(unchecked: "silver"))
            try await store.expectNothingLost()
        }
    }

    // MARK: - The introductory offer

    @Test func aStackableOfferComesAfterTheIntroductoryOne() async throws {
        let product = club(offer: freeWeek, code: spring(isStackable: true))
        try await withCodes(product) { store, desk in
            let code = try #require(try await desk.codes().first)
            let terms = try await desk.terms(of: code)
            #expect(terms.grant.first?.mode == .freeTrial && terms.grant.later?.price == usd(99))
            let bought = try await desk.buy(code)
            #expect(bought.state == .purchased && bought.price == usd(0))
            #expect(try await store.introductoryID() == bought.id)
            try await store.advance(days: 110)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(0), usd(99), usd(99), usd(99), usd(299)])
            try await store.expectNothingLost()
        }
    }

    @Test func aStackableOfferWaitsForEveryIntroductoryPeriod() async throws {
        let product = club(offer: threeMonths, code: spring(freeWeek, isStackable: true))
        try await withCodes(product) { store, desk in
            let code = try #require(try await desk.codes().first)
            try await desk.buy(code)
            try await store.advance(days: 105)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(99), usd(99), usd(99), usd(0), usd(299)])
            try await store.expectNothingLost()
        }
    }

    @Test func anOfferThatReplacesTheIntroductoryOneUsesItUp() async throws {
        let product = club(offer: freeWeek, code: spring())
        try await withCodes(product) { store, desk in
            let codes = try await desk.codes(2)
            let failed = try await desk.buy(codes[0], method: .decline)
            #expect(failed.state == .failed)
            #expect(try await store.introductoryID() == nil)
            let bought = try await desk.buy(codes[1])
            #expect(bought.subscription?.offer?.introductory == .usedUp)
            #expect(try await store.introductoryID() == bought.id)
            try await store.lapse()
            await #expect(throws: PaymentRefusal.stalePrice(current: usd(299))) {
                try await store.add(request("club", price: usd(0)), key: "9")
            }
            try await store.expectNothingLost()
        }
    }

    // MARK: - Once

    @Test func aCodeIsRedeemedOnce() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            try await desk.buy(code)
            await #expect(throws: PaymentRefusal.codeUsed) { try await desk.redeem(code, of: bob) }
            #expect(try await store.count("code_redemptions") == 1)
        }
    }

    @Test func anAccountHasAnOfferOfCodesOnce() async throws {
        try await withCodes { store, desk in
            let codes = try await desk.codes(2)
            try await desk.buy(codes[0])
            await #expect(throws: PaymentRefusal.codeRedeemedBefore) {
                try await desk.redeem(codes[1])
            }
            #expect(try await desk.buy(codes[1], of: bob).state == .purchased)
        }
    }

    @Test func aPaymentThatFailsGivesTheCodeBack() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            #expect(try await desk.buy(code, method: .decline).state == .failed)
            #expect(try await store.count("code_redemptions") == 0)
            #expect(try await desk.buy(code).state == .purchased)
        }
    }

    @Test func aDeclinedApprovalGivesTheCodeBack() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            let waiting = try await desk.buy(code, method: .needsApproval)
            #expect(waiting.state == .deferred)
            await #expect(throws: PaymentRefusal.codeUsed) { try await desk.redeem(code, of: bob) }
            _ = try await store.approvals.decide(
                .decline,
                on: waiting.id,
                by: nil,
                trace: .begin()
            )
            #expect(try await desk.buy(code, of: bob).state == .purchased)
        }
    }

    @Test func aPageThatIsSentTwiceIsOnePayment() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            let ticket = try await desk.ticket()
            let terms = try await desk.terms(of: code, with: ticket)
            let first = try await desk.confirm(terms, code, ticket)
            #expect(try await desk.confirm(terms, code, ticket).id == first.id)
            #expect(try await store.count("transactions") == 1)
        }
    }

    @Test func whatHasChangedSinceItWasShownIsShownAgain() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            let ticket = try await desk.ticket()
            let terms = try await desk.terms(of: code)
            try await store.sell(club(code: spring(freeWeek), version: 2))
            let reply = try await desk.redemptions.redeem(
                code,
                ticket,
                confirmed: terms.mark,
                trace: .begin()
            )
            guard case .offered(let again) = reply else { return #expect(Bool(false)) }
            #expect(again.grant.first?.mode == .freeTrial)
            #expect(try await store.count("transactions") == 0)
        }
    }

    /// Nobody gets other terms by sending back another mark.
    @Test func termsThatWereNeverShownAreNotSold() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            let ticket = try await desk.ticket()
            var terms = try await desk.terms(of: code)
            terms.grant.first?.price = usd(1)
            let mark = terms.mark
            let reply = try await desk.redemptions.redeem(
                code,
                ticket,
                confirmed: mark,
                trace: .begin()
            )
            guard case .offered(let again) = reply else { return #expect(Bool(false)) }
            #expect(again.grant.first?.price == usd(99))
            #expect(try await store.count("transactions") == 0)
        }
    }

    /// The page has shown what the code gives, and the code is of another product than was sent back.
    @Test func aCodeGivesNoOtherProduct() async throws {
        try await withCodes { store, desk in
            try await store.sell(club("gold", code: spring()))
            let code = try #require(try await desk.codes().first)
            let ticket = try await desk.ticket()
            var terms = try await desk.terms(of: code, with: ticket)
            terms.product = ProductID(unchecked: "gold")
            await #expect(throws: PaymentRefusal.codeUnknown) {
                try await desk.confirm(terms, code, ticket)
            }
            #expect(try await store.count("transactions") == 0)
        }
    }

    /// Prices that change after the page has shown a code are shown to the same ticket.
    @Test func aTicketIsShownNewTermsBeforeItPaysThem() async throws {
        try await withCodes { store, desk in
            let code = try #require(try await desk.codes().first)
            let ticket = try await desk.ticket()
            let old = try await desk.terms(of: code, with: ticket)
            try await store.sell(club(code: spring(freeWeek), version: 2))
            let reply = try await desk.redemptions.redeem(
                code,
                ticket,
                confirmed: old.mark,
                trace: .begin()
            )
            guard case .offered(let new) = reply else { return #expect(Bool(false)) }
            #expect(new.grant.first?.mode == .freeTrial)
            #expect(try await store.count("transactions") == 0)
            #expect(try await desk.confirm(new, code, ticket).price == usd(0))
        }
    }
}

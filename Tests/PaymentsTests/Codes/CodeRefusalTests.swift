import EventTypes
import Foundation
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Codes that are not redeemed, each with its reason (rule S57).
@Suite(.timeLimit(.minutes(10))) struct CodeRefusalTests {
    private func expectRefusal(
        _ refusal: PaymentRefusal,
        of code: String,
        by account: AuthenticatedAccount = alice,
        _ desk: CodeDesk,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        await #expect(throws: refusal, sourceLocation: location) {
            try await desk.redeem(code, of: account)
        }
        #expect(try await desk.store.count("code_redemptions") == 0, sourceLocation: location)
    }

    @Test func unknownMalformedAndForeignCodesAreAllUnknown() async throws {
        try await withCodes { _, desk in
            let foreign = try await desk.codes(in: BundleID(unchecked: "com.example.other"))
            let codes = ["", "ABC", "NOSUCHCODE", "Ünicode-code", "' OR 1=1 --", foreign[0]]
            for code in codes + [String(repeating: "A", count: 5000)] {
                try await expectRefusal(.codeUnknown, of: code, desk)
            }
        }
    }

    @Test func aCodeIsGoodUntilItsEnd() async throws {
        try await withCodes { store, desk in
            let end = startTime.advanced(by: .seconds(60))
            let code = try await desk.codes(until: end)[0]
            _ = try await desk.terms(of: code)
            store.clock.advance(by: .seconds(60))
            try await expectRefusal(.codeExpired, of: code, desk)
        }
    }

    @Test func aDeactivatedCodeIsNotGood() async throws {
        try await withCodes { _, desk in
            let code = try await desk.codes()[0]
            let other = Act(
                decidedBy: AdministratorName(unchecked: "joe"),
                reason: ActReason(rawValue: "Lost")
            )
            for act in [other, CodeDesk.mia] {
                guard
                    case .campaign(let campaign, _) = try await desk.campaigns.deactivate(
                        1,
                        by: act
                    )
                else { return #expect(Bool(false)) }
                // The first decision counts.
                #expect(campaign.deactivated == other && campaign.created == CodeDesk.mia)
            }
            try await expectRefusal(.codeExpired, of: code, desk)
        }
    }

    @Test(arguments: CustomerKind.all) func anOfferIsForItsCustomers(kind: CustomerKind)
        async throws
    {
        try await withCodes(club(code: spring(customers: [kind]))) { store, desk in
            let code = try await desk.codes()[0]
            let refusal = PaymentRefusal.codeNotForCustomer([kind])
            func check(_ present: CustomerKind) async throws {
                if present == kind {
                    _ = try await desk.terms(of: code)
                } else {
                    try await expectRefusal(refusal, of: code, desk)
                }
            }
            try await check(.new)
            _ = try await store.buy(request("club", price: usd(299)), key: "1")
            try await check(.active)
            try await store.lapse()
            try await check(.expired)
        }
    }

    @Test func anOfferThatHasEndedGivesNothing() async throws {
        try await withCodes { store, desk in
            let code = try await desk.codes()[0]
            try await store.sell(club(code: spring(isActive: false), version: 2))
            try await expectRefusal(.codeOfferEnded, of: code, desk)
            try await store.sell(club(version: 3))
            try await expectRefusal(.codeOfferEnded, of: code, desk)
        }
    }

    @Test func aCodeIsNotRedeemedWhereItsProductHasNoPriceAnyMore() async throws {
        try await withCodes { store, desk in
            let code = try await desk.codes()[0]
            let ticket = try await desk.ticket()
            let terms = try await desk.terms(of: code, with: ticket)
            var moved = club(code: spring(), version: 2)
            moved.prices = [Storefront(unchecked: "DEU"): usd(299)]
            try await store.sell(moved)
            try await expectRefusal(.codeOfferEnded, of: code, desk)
            await #expect(throws: PaymentRefusal.productUnavailable) {
                try await desk.confirm(terms, code, ticket)
            }
            #expect(try await store.count("transactions") == 0)
        }
    }

    @Test func aTicketIsGoodForFiveMinutes() async throws {
        try await withCodes { store, desk in
            let code = try await desk.codes()[0]
            let ticket = try await desk.ticket()
            let found = try await desk.redemptions.ticket(of: ticket)
            #expect(found?.account.accountID == alice.accountID)
            #expect(try await desk.redemptions.ticket(of: ticket + "0") == nil)
            #expect(try await desk.redemptions.ticket(of: RedemptionTicket.secret()) == nil)
            store.clock.advance(by: RedemptionTicket.lifetime)
            #expect(try await desk.redemptions.ticket(of: ticket) == nil)
            let reply = try await desk.redemptions.redeem(
                code,
                ticket,
                confirmed: nil,
                trace: .begin()
            )
            guard case .ticketOver = reply else { return #expect(Bool(false)) }
        }
    }

    @Test func ticketsThatAreOverAreDeleted() async throws {
        try await withCodes { store, desk in
            for _ in 0..<3 { _ = try await desk.ticket() }
            store.clock.advance(by: RedemptionTicket.lifetime + .seconds(1))
            _ = try await desk.ticket()
            #expect(try await store.count("redemption_tickets") == 1)
        }
    }

    @Test func anAccountTypesTwentyUnknownCodesAnHour() async throws {
        try await withCodes { store, desk in
            let code = try await desk.codes()[0]
            // A code that exists is no try.
            for _ in 0...RedemptionHandler.triesMax { _ = try await desk.terms(of: code) }
            for _ in 0..<RedemptionHandler.triesMax {
                guard case .refused(.codeUnknown) = try await desk.type("WRONGCODE") else {
                    return #expect(Bool(false))
                }
            }
            guard case .tooManyTries = try await desk.type(code) else {
                return #expect(Bool(false))
            }
            // Others are not kept out.
            _ = try await desk.terms(of: code, for: bob)
            store.clock.advance(by: RedemptionHandler.window + .seconds(1))
            _ = try await desk.terms(of: code)
        }
    }

    /// The page has shown it, so whoever confirms it guesses nothing.
    @Test func aCodeThatWasShownIsRedeemedWhateverWasTypedSince() async throws {
        try await withCodes { store, desk in
            let codes = try await desk.codes(2)
            let (ticket, other) = (try await desk.ticket(), try await desk.ticket())
            let terms = try await desk.terms(of: codes[0], with: ticket)
            for _ in 0..<RedemptionHandler.triesMax { _ = try await desk.type("WRONGCODE") }
            // Neither another code nor another ticket takes part in that.
            for (code, ticket) in [(codes[1], ticket), (codes[0], other)] {
                let reply = try await desk.redemptions.redeem(
                    code,
                    ticket,
                    confirmed: terms.mark,
                    trace: .begin()
                )
                guard case .tooManyTries = reply else { return #expect(Bool(false)) }
            }
            let bought = try await desk.confirm(terms, codes[0], ticket)
            #expect(bought.price == usd(99))
        }
    }

    /// Instances remember tickets, each as it has read them.
    @Test func aCodeThatAnotherInstanceHasShownIsRedeemed() async throws {
        try await withCodes { store, desk in
            let codes = try await desk.codes(2)
            let other = CodeDesk(store)
            let ticket = try await desk.ticket()
            _ = try await desk.terms(of: codes[1], with: ticket)
            let terms = try await other.terms(of: codes[0], with: ticket)
            for _ in 0..<RedemptionHandler.triesMax { _ = try await desk.type("WRONGCODE") }
            #expect(try await desk.confirm(terms, codes[0], ticket).price == usd(99))
        }
    }

    @Test func aRememberedTicketEndsLikeOneThatIsRead() async throws {
        try await withCodes { store, desk in
            let code = try await desk.codes()[0]
            let ticket = try await desk.ticket()
            let terms = try await desk.terms(of: code, with: ticket)
            store.clock.advance(by: RedemptionTicket.lifetime)
            let reply = try await desk.redemptions.redeem(
                code,
                ticket,
                confirmed: terms.mark,
                trace: .begin()
            )
            guard case .ticketOver = reply else { return #expect(Bool(false)) }
            #expect(try await store.count("transactions") == 0)
        }
    }

    @Test func anAppCannotRedeemByItself() async throws {
        try await withCodes { store, desk in
            _ = try await desk.codes()
            var request = request("club", price: usd(299))
            request.offer = ShownOffer(type: .code, id: OfferID(unchecked: "spring"))
            await #expect(throws: PaymentRefusal.offerNotAvailable) {
                try await store.add(request, key: "1")
            }
        }
    }

    // MARK: - Campaigns

    @Test func campaignsThatCannotBeAreRefused() async throws {
        try await withCodes { store, desk in
            for (word, count) in [("abc", 1), ("with*", 1), ("SPRING", 0), ("SPRING", 1_000_001)] {
                guard case .invalid = try await desk.word(word, redemptions: count) else {
                    Issue.record("\(word) \(count)")
                    continue
                }
            }
            guard case .campaign = try await desk.word("Spring-27", redemptions: 3),
                case .wordTaken = try await desk.word("SPRING27", redemptions: 3)
            else { return #expect(Bool(false)) }
            #expect(try await store.count("code_campaigns") == 1)
            #expect(try await store.count("offer_codes") == 1)
        }
    }

    @Test func aCampaignIsOfACodeOfferOfItsProduct() async throws {
        try await withCodes { store, desk in
            for (product, offer) in [("club", "winter"), ("coins", "spring"), ("none", "spring")] {
                let request = CodeCampaignRequest(
                    bundleID: alice.bundleID,
                    productID: ProductID(unchecked: product),
                    offerID: OfferID(unchecked: offer),
                    count: 1
                )
                let reply = try await desk.campaigns.create(request, by: CodeDesk.mia)
                guard case .offerUnknown = reply else {
                    Issue.record("\(product) \(offer)")
                    continue
                }
            }
            #expect(try await store.count("code_campaigns") == 0)
        }
    }

    /// The books have no code that could be redeemed by who reads them.
    @Test func oneTimeCodesAreNotInTheBooks() async throws {
        try await withCodes { store, desk in
            let codes = try await desk.codes(20)
            #expect(Set(codes).count == 20)
            let text = try await store.client.withConnection { connection in
                try connection.query(
                    "SELECT string_agg(o::text || c::text, ' ') FROM offer_codes o, code_campaigns c"
                ).first?.decode(String?.self) ?? ""
            }
            #expect(text.contains("spring"), "The books have the campaign of these codes.")
            #expect(codes.allSatisfy { !text.contains($0) })
        }
    }
}

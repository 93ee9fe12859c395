import EventTypes
import StoreAPI
import Testing

@testable import Scenarios

/// Stories of offers, codes and prices: what they say, and the mistakes in them.
@Suite struct OfferStoryTests {
    private static let story = StoryText(
        products: """
            products:
              gold:
                type: autoRenewable
                group: club
                period: 1 month
                price: 4.99 USD
                offers:
                  stay: {kind: promotional, mode: payAsYouGo, periods: 3, price: 2.99 USD}
                  spring: {kind: code, mode: freeTrial}
                  return: {kind: winBack, mode: payUpFront, period: 3 months, price: 4.99 USD}
              coins: {type: consumable, price: 0.99 USD}
            """
    )

    @Test func aProductSellsEachOfferUnderItsKind() throws {
        let products = try Self.story.read("- buy: gold").products
        let draft = try #require(products.first).draft(webhookURL: "")
        let usa = Storefront(unchecked: "USA")
        let terms = OfferTerms(
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            prices: [usa: Money(minorUnits: 299, currency: Currency(unchecked: "USD"))]
        )
        #expect(
            draft.promotionalOffers == [
                PromotionalOffer(id: OfferID(unchecked: "stay"), terms: terms)
            ]
        )
        #expect(draft.codeOffers?.map(\.id.rawValue) == ["spring"])
        #expect(draft.codeOffers?.first?.terms.prices[usa]?.isZero == true)
        #expect(draft.winBackOffers?.map(\.terms.period) == [SubscriptionPeriod(3, .month)])
        let coins = try #require(products.last).draft(webhookURL: "")
        #expect(coins.promotionalOffers == nil && coins.codeOffers == nil)
    }

    @Test func stepsSayWhatIsOfferedAndWhatItCosts() throws {
        let scenario = try Self.story.read(
            """
            - buy: gold
            - buy: gold
              as: back
              offer: return
            - campaign: SPRING
              product: gold
              offer: spring
              count: 2
            - campaign: LETTERS
              product: gold
              offer: spring
              oneTime: true
            - redeem: SPRING
              as: first
            - redeem: LETTERS
              as: second
              number: 3
              method: decline
              refused: redeemed already
            - price: gold
              to: 9.99 USD
              in: 40d
              raise: true
            - consent: first
            - consent: gold
              decision: decline
              refused: price_not_asked
            """
        )
        #expect(
            scenario.steps.dropFirst().map(\.action.description) == [
                "buy 'gold' on 'phone' as 'back' with the offer 'return'",
                "make the code 'SPRING', good for 2, with the offer 'spring' of 'gold'",
                "make 1 one-time codes 'LETTERS', with the offer 'spring' of 'gold'",
                "redeem 'SPRING' on 'phone' as 'first'",
                "redeem number 3 of 'LETTERS' on 'phone' as 'second' by sandbox_decline, "
                    + "which is refused with 'redeemed already'",
                "let 'gold' cost 9.99 USD in 5w5d, for subscribers too",
                "answer the question about a higher price of 'first': agree",
                "answer the question about a higher price of 'gold': decline, "
                    + "which is refused with price_not_asked",
            ]
        )
        #expect(ScenarioPlan(scenario).needs.isEmpty)
        #expect(scenario.repricedProducts == ["gold"])
    }

    @Test func aPriceThatChangesInAShuffleCountsToo() throws {
        let scenario = try Self.story.read("- shuffle: [{price: gold, to: 5.99 USD, in: 1d}]")
        #expect(scenario.repricedProducts == ["gold"])
    }

    @Test func aPromotionalOfferNeedsAKeyOfTheAppsServer() throws {
        let scenario = try Self.story.read("- buy: gold\n- buy: gold\n  as: less\n  offer: stay")
        #expect(ScenarioPlan(scenario).needs == [.serverKey])
    }

    @Test func factsSayWhatAPeriodCosts() throws {
        let scenario = try Self.story.read(
            """
            - buy: gold
            - expect:
                subscription: {gold: {price: 2.99 USD, offer: stay, increase: pending}}
            """
        )
        guard case .expect(let facts) = scenario.steps[1].action else {
            Issue.record("The second step is an expectation.")
            return
        }
        #expect(
            facts.map { "\($0.subject): \($0.expected)" } == [
                "price of the subscription 'gold': 2.99 USD",
                "offer of the subscription 'gold': stay",
                "increase of the subscription 'gold': pending",
            ]
        )
    }

    @Test(arguments: [
        (
            "- buy: gold\n  offer: sty",
            "15:10: there is no offer 'sty' here; did you mean 'stay'?"
        ),
        (
            "- buy: coins\n  offer: stay",
            "15:10: there is no offer 'stay' here; there are none"
        ),
        (
            "- buy: gold\n  offer: spring",
            "15:10: the offer 'spring' is had by a code; use 'campaign' and 'redeem'"
        ),
        (
            "- campaign: A\n  product: gold\n  offer: stay",
            "16:10: the offer 'stay' is not of the kind 'code'"
        ),
        (
            "- shuffle: [{campaign: A, product: gold, offer: spring}]",
            "14:24: a campaign is made before a shuffle, not in it"
        ),
        (
            "- redeem: A\n  as: first",
            "14:11: there is no campaign 'A' here; there are none"
        ),
        (
            "- buy: coins\n- consent: coins",
            "15:12: 'coins' does not renew; its type is another one"
        ),
        ("- price: gold\n  to: 1 USD", "14:3: 'in' is missing"),
    ])
    func aMistakeInAStepHasItsPlace(steps: String, problem: String) {
        #expect(Self.story.problems(steps) == [problem])
    }

    @Test func onlyAProductThatRenewsHasOffers() {
        var found: [String] = []
        do throws(ScenarioProblems) {
            _ = try ScenarioReader.read(
                """
                scenario: x
                products:
                  coins: {type: consumable, price: 1 USD, offers: {a: {kind: code, mode: freeTrial}}}
                steps: []
                """
            )
        } catch {
            found = error.problems.map(\.description)
        }
        let line = "only a product of the type 'autoRenewable' has 'offers'"
        #expect(found.count == 1 && found[0].hasSuffix(line), "\(found)")
    }
}

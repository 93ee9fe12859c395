import EventTypes
import StoreAPI
import Testing

@testable import Scenarios

/// Stories of subscriptions: their products, steps and facts, and the mistakes in them.
@Suite struct SubscriptionStoryTests {
    private static let story = StoryText(
        products: """
            products:
              gold: {type: autoRenewable, group: club, period: 1 month, price: 4.99 USD}
              silver: {type: autoRenewable, group: club, level: 2, period: P1M, price: 1.99 USD}
              coins: {type: consumable, price: 0.99 USD}
            """
    )

    @Test func aProductThatRenewsHasTermsInItsDraft() throws {
        let products = try Self.story.read("- buy: gold").products
        let drafts = products.map { $0.draft(webhookURL: "") }
        #expect(
            drafts.map(\.type)
                == [.autoRenewableSubscription, .autoRenewableSubscription, .consumable]
        )
        let group = SubscriptionGroupID(unchecked: "club")
        let month = SubscriptionPeriod(1, .month)
        #expect(
            drafts.map(\.subscription) == [
                SubscriptionTerms(groupID: group, level: 1, period: month),
                SubscriptionTerms(groupID: group, level: 2, period: month), nil,
            ]
        )
    }

    @Test func aTestSaysWhatTheSandboxDoesWithAnAccount() throws {
        let scenario = try Self.story.read(
            """
            - test: {account: ada, grace: true, declineRenewals: true}
            - test: {account: ada, grace: false}
            - test: {account: ada}
            """
        )
        #expect(
            scenario.steps.map(\.action.description) == [
                "test with 'ada': a grace period, renewals are declined",
                "test with 'ada': no grace period", "test with 'ada': nothing",
            ]
        )
        #expect(ScenarioPlan(scenario).needs == [])
        #expect(
            Self.story.problems(
                "- test: {account: ben}\n- test: {grace: true}\n- test: {account: ada, slow: 1}"
            )
            .count == 2,
            "The form is checked before the names."
        )
        #expect(Self.story.problems("- test: {account: ben}").count == 1)
    }

    @Test func stepsSayWhatTheBuyerDecides() throws {
        let scenario = try Self.story.read(
            """
            - buy: gold
            - cancel: gold
            - resume: gold
              refused: subscription_ended
            - change: gold
              to: silver
            - advance: 31d
              unanswered: true
            - clock: 1s=8d
            - pass: 70d
            - clock: frozen
            - clock: real
            - reorder: gold
            """
        )
        #expect(
            scenario.steps.dropFirst().map(\.action.description) == [
                "cancel the subscription of 'gold'",
                "renew the subscription of 'gold', which is refused with subscription_ended",
                "change the subscription of 'gold' to 'silver'",
                "advance the clock by 4w3d, and do not wait for it",
                "run the clock at 1s=1w1d", "wait until 10w have passed in the store",
                "freeze the clock", "run the clock as fast as the machines'",
                "send the events about the periods of 'gold' once more, the newest first",
            ]
        )
    }

    @Test func factsOfASubscriptionAreReadInOneUnit() throws {
        let scenario = try Self.story.read(
            """
            - buy: gold
              as: mine
            - expect:
                subscription:
                  mine: {state: grace, next: silver, paid: 3, ends: 1 year, ownedUntil: 2 weeks}
            """
        )
        guard case .expect(let facts) = scenario.steps[1].action else {
            Issue.record("The second step is an expectation.")
            return
        }
        #expect(
            facts.map { "\($0.subject): \($0.expected)" } == [
                "state of the subscription 'mine': grace",
                "next of the subscription 'mine': silver",
                "paid of the subscription 'mine': 3",
                "ends of the subscription 'mine': 12 months",
                "ownedUntil of the subscription 'mine': 14 days",
            ]
        )
    }

    @Test(arguments: [
        (true, 30, "0 months and 4w2d"), (true, 31, "1 month"), (true, 59, "2 months"),
        (true, 60, "2 months and 1d"), (false, 15, "15 days"), (false, 1, "1 day"),
        (true, 365, "12 months"), (true, -1, "1969-12-31T00:00:00.000Z, before the subscription"),
    ])
    func anEndIsCountedFromTheStart(inMonths: Bool, days: Int64, text: String) {
        let start = StoreTime(millisecondsSinceEpoch: 0)
        let end = ScenarioPeriodEnd(kind: .ends, isInMonths: inMonths)
        let seen = end.text(from: start, to: start.advanced(by: .seconds(days * 86_400)))
        #expect(seen == text)
    }

    @Test func mistakesInProductsThatRenewHaveTheirPlace() {
        let text = """
            scenario: x
            products:
              gold: {type: autoRenewable, price: 1 USD}
              silver: {type: autoRenewable, group: a, period: 5 months, price: 1 USD}
              coins: {type: consumable, price: 1 USD, level: 2}
            steps: []
            """
        var found: [String] = []
        do throws(ScenarioProblems) {
            _ = try ScenarioReader.read(text)
        } catch {
            found = error.problems.map(\.description)
        }
        #expect(
            found == [
                "3:9: 'group' is missing, as the product renews",
                "3:9: 'period' is missing, as the product renews",
                "4:51: a period lasts 1 week, 1, 2, 3 or 6 months, or 1 year",
                "5:50: only a product of the type 'autoRenewable' has 'level'",
            ]
        )
        #expect(
            ScenarioPeriodEnd.Kind.allCases.allSatisfy { kind in
                ScenarioForms.expectation.contains { field in
                    guard case .named(.fields(let fields)) = field.form else { return false }
                    return fields.contains { $0.name == kind.rawValue }
                }
            }
        )
    }

    @Test(arguments: [
        (
            "- buy: coins\n- cancel: coins",
            "8:11: 'coins' does not renew; its type is another one"
        ),
        (
            "- buy: coins\n- expect: {subscription: {coins: {paid: 1}}}",
            "8:27: 'coins' does not renew; its type is another one"
        ),
        (
            "- buy: coins\n- resume: coins",
            "8:3: 'as' is missing; it names the payment that goes on"
        ),
        (
            "- buy: gold\n- change: gold\n  to: bronze",
            "9:7: there is no product 'bronze' here; there is coins, gold, silver"
        ),
        (
            "- buy: gold\n- change: gold\n  to: silver\n  canPay: true",
            "10:11: 'canPay' is of an account, and 'to' is not"
        ),
        (
            "- change: ada\n  canPay: false\n  refused: no",
            "9:12: only a change with 'to' can be refused"
        ),
        (
            "- buy: gold\n- expect: {subscription: {gold: {state: actve}}}",
            "8:41: 'actve' is not known here; did you mean 'active'?"
        ),
        (
            "- clock: 1d=1h",
            "7:10: this must be 'frozen', 'real' or a rate such as 1h=1d, and is '1d=1h'"
        ),
    ])
    func aMistakeInAStepHasItsPlace(steps: String, problem: String) {
        #expect(Self.story.problems(steps) == [problem])
    }

    @Test(arguments: [
        ("1 month", "P1M"), ("3 months", "P3M"), ("P1W", "P1W"), ("2 weeks", "P2W"),
        ("1 year", "P1Y"), ("15 days", "P15D"),
    ])
    func aPeriodIsWrittenInWordsOrISO8601(text: String, period: String) {
        #expect(SubscriptionPeriod(scenario: text)?.description == period)
    }

    @Test(arguments: ["month", "0 months", "1  month", "one month", "01 month", "1 months ", "P1"])
    func whatIsNoPeriodIsNotRead(text: String) {
        #expect(SubscriptionPeriod(scenario: text) == nil)
    }
}

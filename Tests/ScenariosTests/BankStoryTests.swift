import Testing

@testable import Scenarios

/// Stories of buyers at their banks: what they say, and the mistakes in them.
@Suite struct BankStoryTests {
    private static let story = StoryText(
        products: "products: {coins: {type: consumable, price: 0.99 USD}}"
    )

    @Test func stepsSayWhatHappensAtTheBank() throws {
        let scenario = try Self.story.read(
            """
            - buy: coins
              method: needs_action
            - confirm: coins
            - confirm: coins
              decision: decline
              refused: no_action_needed
            - dispute: coins
            - dispute: coins
              step: inquire
            - dispute: coins
              step: win
              refused: dispute_refused
            """
        )
        #expect(
            scenario.steps.map(\.action.description) == [
                "buy 'coins' on 'phone' by sandbox_needs_action",
                "confirm 'coins' at the bank",
                "decline 'coins' at the bank, which is refused with no_action_needed",
                "dispute 'coins': open",
                "dispute 'coins': inquire",
                "dispute 'coins': win, which is refused with dispute_refused",
            ]
        )
        #expect(ScenarioPlan(scenario).needs.isEmpty)
    }

    @Test func whatBanksHaveTakenBackIsAFactOfTheLedger() throws {
        let scenario = try Self.story.read(
            """
            - buy: coins
            - expect: {ledger: {coins: {chargebacks: -0.99 USD}}}
            """
        )
        guard case .expect(let facts) = scenario.steps[1].action else {
            Issue.record("The second step is an expectation.")
            return
        }
        #expect(
            facts.map { "\($0.subject): \($0.expected)" }
                == ["chargebacks in the ledger of 'coins': -0.99 USD"]
        )
    }

    @Test func whatAwaitsItsBuyerIsAFactOfTheQueue() throws {
        let scenario = try Self.story.read(
            """
            - buy: coins
              method: needs_action
            - expect: {awaitsBuyer: {ada: [coins]}}
            - expect: {awaitsBuyer: {ada: []}}
            """
        )
        let facts = scenario.steps.flatMap { step -> [ScenarioFact] in
            guard case .expect(let facts) = step.action else { return [] }
            return facts
        }
        #expect(
            facts.map { "\($0.subject): \($0.expected)" } == [
                "what awaits 'ada' at the bank: coins", "what awaits 'ada' at the bank: none",
            ]
        )
    }

    @Test(arguments: [
        ("- confirm: coins", "4:12: there is no payment 'coins' here; there are none"),
        ("- dispute: coins", "4:12: there is no payment 'coins' here; there are none"),
        (
            "- buy: coins\n- confirm: coins\n  decision: refuse",
            "6:13: 'refuse' is not known here; there is confirm, decline"
        ),
        (
            "- buy: coins\n- dispute: coins\n  step: won",
            "6:9: 'won' is not known here; did you mean 'win'?"
        ),
        (
            "- buy: coins\n- confirm: coins\n  dispute: coins",
            "5:3: 'confirm' and 'dispute' are two steps; write each as a step of its own"
        ),
        (
            "- buy: coins\n- dispute: coins\n  steps: win",
            "6:3: 'steps' is not known here; did you mean 'step'?"
        ),
    ])
    func aMistakeInAStepHasItsPlace(steps: String, problem: String) {
        #expect(Self.story.problems(steps) == [problem])
    }
}

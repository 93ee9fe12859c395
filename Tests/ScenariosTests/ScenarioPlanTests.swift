import EventTypes
import Testing

@testable import Scenarios

/// Plans of runs, and differences between what was expected and what was observed.
@Suite struct ScenarioPlanTests {
    private static let shuffled = """
        scenario: Purchases in any order
        products: {coins: {type: consumable, price: 0.99 USD}}
        steps:
          - shuffle:
              - {buy: coins, as: a}
              - {buy: coins, as: b}
              - {buy: coins, as: c}
              - {buy: coins, as: d}
          - finish: a
        """

    @Test func aSeedGivesOneOrderAndKeepsAllSteps() throws {
        let scenario = try ScenarioReader.read(Self.shuffled)
        let orders = (0..<20).map { seed in
            ScenarioPlan(scenario, seed: seed).steps.map(\.line)
        }
        #expect(orders[7] == ScenarioPlan(scenario, seed: 7).steps.map(\.line))
        #expect(orders.allSatisfy { $0.sorted() == [5, 6, 7, 8, 9] && $0.last == 9 })
        #expect(Set(orders).count > 5, "Seeds give different orders.")
    }

    private static let plans: [(String, Set<ScenarioNeed>)] = [
        ("- buy: coins", []),
        ("- advance: 1d", [.clock]), ("- clock: 1h=1d\n- pass: 2d", [.clock]),
        ("- buy: gift", [.merchant]),
        ("- answer: 503", [.merchant]), ("- kill: payments", [.faults]),
        ("- freeze: receipts\n- thaw: receipts\n- restart: catalog", [.faults]),
        ("- drop: finish", [.faults]), ("- buy: coins\n- duplicate: coins", [.faults]),
    ]

    @Test(arguments: plans)
    func aPlanSaysWhatItNeeds(steps: String, needs: Set<ScenarioNeed>) throws {
        let gift = needs == [.merchant] && steps.contains("gift")
        let product = gift ? "gift" : "coins"
        let scenario = try ScenarioReader.read(
            """
            scenario: Needs
            products: {\(product): {type: consumable, price: 0.99 USD, webhook: \(gift)}}
            steps:
            \(steps)
            """
        )
        #expect(ScenarioPlan(scenario).needs == needs)
    }

    @Test func factsThatAStoreDoesNotShowAreLeftOut() throws {
        let scenario = try ScenarioReader.read(
            """
            scenario: Facts
            products: {coins: {type: consumable, price: 0.99 USD}}
            steps:
              - buy: coins
              - expect: {ledger: {coins: {refunds: 0.00 USD}}, owns: {ada: []}}
              - expect: {notifications: {coins: []}}
            """
        )
        let plan = ScenarioPlan(scenario)
        #expect(plan.needs.isEmpty && plan.factNeeds == [.ledger, .merchant])
        #expect(plan.factCount == 3)
        let shown = plan.leavingOutFacts(beyond: [.ledger])
        #expect(shown.factCount == 2 && shown.factNeeds == [.ledger])
        #expect(plan.leavingOutFacts(beyond: []).factCount == 1)
        #expect(shown.steps.map(\.line) == [4, 5, 6])
        #expect(plan.unmetNeeds(by: []).isEmpty)
    }

    @Test func aStoryOfWhichNoFactIsLeftIsSkipped() throws {
        let scenario = try ScenarioReader.read(
            """
            scenario: Facts
            products: {coins: {type: consumable, price: 0.99 USD}}
            steps:
              - buy: coins
              - expect: {notifications: {coins: []}}
            """
        )
        #expect(ScenarioPlan(scenario).unmetNeeds(by: [.clock]) == [.merchant])
        #expect(ScenarioPlan(scenario).unmetNeeds(by: [.merchant]).isEmpty)
    }

    @Test func aDifferenceNamesLineSubjectAndBothValues() {
        let facts = [
            ScenarioFact(
                line: 12,
                subject: .owned(account: "ada"),
                expected: .set(["pro", "map"])
            ),
            ScenarioFact(
                line: 13,
                subject: .credit(account: "ada", unit: "coins"),
                expected: .text("100")
            ),
            ScenarioFact(
                line: 14,
                subject: .notifications(payment: "coins"),
                expected: .sequence(["REFUND"])
            ),
        ]
        let differences = ScenarioComparison.differences(
            facts,
            [
                .owned(account: "ada"): .set(["pro"]),
                .credit(account: "ada", unit: "coins"): .text("100"),
            ]
        )
        #expect(
            differences.map(\.description) == [
                "line 12: what 'ada' owns: expected map, pro, observed pro",
                "line 14: the notifications about 'coins': expected REFUND, observed nothing",
            ]
        )
    }

    @Test(arguments: [
        (["purchased"], ["purchasing", "purchased"], true),
        (["purchasing", "purchased"], ["purchased"], false),
        (["purchasing", "purchased"], ["purchasing", "purchased"], true),
        ([], ["purchased"], false), ([], ["purchasing"], true),
    ])
    func purchasingCountsOnlyWhereItIsExpected(
        expected: [String],
        observed: [String],
        holds: Bool
    ) {
        #expect(ScenarioComparison.holds(.sequence(expected), .sequence(observed)) == holds)
    }

    @Test func aProductsIDFollowsFromItsDescription() throws {
        func id(_ price: String, webhookURL: String = "http://localhost:1/") throws -> ProductID {
            let scenario = try ScenarioReader.read(
                "scenario: x\nproducts: {gift: {type: consumable, price: \(price), webhook: true}}\nsteps: []"
            )
            let product = scenario.products[0]
            return try product.id(of: product.draft(webhookURL: webhookURL))
        }
        #expect(try id("0.99 USD") == id("0.99 USD"))
        #expect(try id("0.99 USD") != id("1.99 USD"))
        #expect(try id("0.99 USD") != id("0.99 USD", webhookURL: "http://localhost:2/"))
        let first = try id("0.99 USD")
        #expect(ProductID(rawValue: first.rawValue) == first)
    }
}

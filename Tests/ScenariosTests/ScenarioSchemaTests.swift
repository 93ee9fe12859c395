import Foundation
import Testing

@testable import Scenarios

/// The schema for editors, in the documents and in the program.
@Suite struct ScenarioSchemaTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// `counterfoil scenario schema > docs/scenario.schema.json` writes it.
    @Test func theDocumentIsTheSchema() throws {
        let file = Self.root.appending(path: "docs/scenario.schema.json")
        #expect(try String(contentsOf: file, encoding: .utf8) == ScenarioSchema.text)
    }

    @Test func theSchemaIsJSONAndNamesEveryStep() throws {
        let json = try JSONSerialization.jsonObject(with: Data(ScenarioSchema.text.utf8))
        let definitions = (json as? [String: Any])?["$defs"] as? [String: Any]
        let step = definitions?["step"] as? [String: Any]
        let alternatives = try #require(step?["oneOf"] as? [[String: Any]])
        let verbs = alternatives.compactMap { ($0["required"] as? [String])?.first }
        #expect(verbs == ScenarioForms.steps.map(\.verb.name))
    }

    @Test func theDocumentExplainsEveryStepAndFact() throws {
        let file = Self.root.appending(path: "docs/scenarios.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        for step in ScenarioForms.steps {
            #expect(document.contains("`\(step.verb.name)"), "\(step.verb.name)")
            for other in step.others {
                #expect(document.contains("`\(other.name)"), "\(other.name)")
            }
        }
        for fact in ScenarioForms.expectation {
            #expect(document.contains("`\(fact.name)`"), "\(fact.name)")
        }
    }

    @Test func noStepsNameIsAMemberOfAnother() {
        let verbs = Set(ScenarioForms.steps.map(\.verb.name))
        for step in ScenarioForms.steps {
            #expect(verbs.isDisjoint(with: step.others.map(\.name)), "\(step.verb.name)")
        }
    }

    @Test func everyStepHasAnActionOfItsOwn() throws {
        for (index, step) in ScenarioForms.steps.enumerated() {
            let value =
                switch step.verb.form {
                case .choice(let words): words[0]
                case .whole(let range): "\(range.lowerBound)"
                case .span: "1d"
                case .clock: "frozen"
                case .steps: "[]"
                // Another campaign than the one that is there.
                case .name where step.verb.name == "campaign": "y"
                case .fields(let fields):
                    "{\(fields.filter(\.isRequired).map { "\($0.name): x" }.joined(separator: ", "))}"
                default: "x"
                }
            let name = ["buy", "resume"].contains(step.verb.name) ? ", as: y\(index)" : ""
            let required = step.others.filter(\.isRequired).map { other in
                switch other.form {
                case .whole(let range): ", \(other.name): \(range.lowerBound)"
                case .list: ", \(other.name): [x]"
                case .money: ", \(other.name): 1 USD"
                case .span: ", \(other.name): 1d"
                // The first payment has the name of its product.
                case .name where other.name == "as": ", as: y\(index)"
                default: ", \(other.name): x"
                }
            }.joined()
            let scenario = try ScenarioReader.read(
                """
                scenario: Every step
                products:
                  x:
                    type: autoRenewable
                    group: x
                    period: P1M
                    price: 1 USD
                    offers: {x: {kind: code, mode: freeTrial}}
                devices: {x: x}
                steps:
                  - buy: x
                  - {campaign: x, product: x, offer: x}
                  - {\(step.verb.name): \(value)\(name)\(required)}
                """
            )
            #expect(scenario.steps.map(\.line) == [11, 12, 13], "\(step.verb.name)")
        }
    }
}

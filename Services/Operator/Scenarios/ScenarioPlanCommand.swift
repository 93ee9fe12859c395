import ArgumentParser
import Foundation
import Scenarios

/// `counterfoil scenario plan`: checks files, and says what they would do.
struct ScenarioPlanCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Checks scenario files, and prints what a run would do.",
        discussion: "It needs no store. Each mistake is reported with its line and column."
    )

    @Argument(help: "The files, in YAML or JSON, or folders of them.")
    var files: [String]

    @Option(help: "A seed in place of the one in the files.")
    var seed: UInt64?

    func perform() async throws {
        for file in try ScenarioFiles.read(files) {
            let plan = ScenarioPlan(file.scenario, seed: seed)
            Console.say("\(file.path): \(file.scenario.name)")
            for (verb, needs) in [("needs", plan.needs), ("observes", plan.factNeeds)]
            where !needs.isEmpty {
                let words = needs.sorted().map(\.description).joined(separator: ", ")
                Console.say("  \(verb) \(words)")
            }
            for step in plan.steps { Console.say("  \(step.line): \(step.action)") }
        }
    }
}

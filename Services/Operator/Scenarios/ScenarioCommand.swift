import ArgumentParser
import Scenarios

/// `counterfoil scenario`: stories in files.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Reads scenario files: products, devices, steps, and what has to become true.",
        discussion: """
            Examples:
              counterfoil scenario plan Examples/scenarios/*.yaml
              counterfoil scenario schema > scenario.schema.json
            """,
        subcommands: [ScenarioPlanCommand.self, ScenarioSchemaCommand.self]
    )
}

/// `counterfoil scenario schema`.
struct ScenarioSchemaCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the JSON schema of scenario files, for editors."
    )

    func perform() async throws {
        Console.say(String(ScenarioSchema.text.dropLast()))
    }
}
